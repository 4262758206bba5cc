// Package donax holds nothing but the tests that keep the repository in
// order: import arrows, file sizes, package docs, and documents in step with
// the code. The program is cmd/donax; ARCHITECTURE.md has the picture.
package donax
