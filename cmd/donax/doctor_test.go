package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	t.Setenv("DONAX_CACHE", testCache(t))
	status, text, errw := donax(t, "doctor")
	for _, want := range []string{"platform\n", "cache\n", "machines\n", "isolation\n", "limits\n", "core", "sha256:", "to reset", "instructions between", "30s for -c and run"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if status != 0 || errw != "" || strings.Contains(text, "fail ") {
		t.Errorf("status %d, %q\n%s", status, errw, text)
	}
	status, text, _ = donax(t, "doctor", "--json")
	var got struct {
		OK       bool
		Sections []report
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil || status != 0 || !got.OK || len(got.Sections) < 4 {
		t.Errorf("%d %v %+v", status, err, got)
	}
}

// A cache that anybody may fill is a failure, and so is its status.
func TestDoctorFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DONAX_CACHE", dir)
	status, text, _ := donax(t, "doctor")
	if status != exitNo || !strings.Contains(text, "others may write to") || !strings.Contains(text, "try: DONAX_CACHE=DIR") {
		t.Errorf("status %d\n%s", status, text)
	}
	var out bytes.Buffer
	err := doctor(t.Context(), &out, []section{{"one", func(_ context.Context, r *report) { r.warn("x", "y", "z") }}}, true)
	if want := `{"ok":true,"sections":[{"name":"one","findings":[{"name":"x","value":"z","state":"warn","hint":"y"}]}]}`; err != nil || strings.TrimSpace(out.String()) != want {
		t.Errorf("%v %s", err, out.String())
	}
}
