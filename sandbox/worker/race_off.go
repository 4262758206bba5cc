//go:build !race

package worker

// raceDetector says that this program was built to find races.
const raceDetector = false
