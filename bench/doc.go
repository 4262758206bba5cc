// Package bench measures the promises about speed, beside what the host's own
// programs take in the same run:
//
//	go test ./bench -bench . -benchtime 5x -write ../docs/benchmarks.md
//
// It is tests only.
package bench
