package brake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Load reads the state of a switch that was kept in a file. Without a file it
// is off. Whatever else keeps it from being read means that it is on: nobody
// knows better.
func Load(path string) State {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // no file can be there
		return State{}
	}
	var s State
	if err == nil {
		defer f.Close()
		err = json.NewDecoder(io.LimitReader(f, maxMessage)).Decode(&s)
	}
	if err != nil {
		return State{On: true, Reason: "the state of the brake cannot be read"}
	}
	s.On = true // there is a file
	return s
}

// Save keeps the state of a switch that is on, so that what starts later finds
// it. A state that is kept already stays: first is false then.
func Save(path string, s State) (kept State, first bool, err error) {
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return State{}, false, err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return State{}, false, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".brake-*")
	if err != nil {
		return State{}, false, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(b, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return State{}, false, err
	}
	// A link appears whole or not at all, and never in the place of the first one.
	switch err := os.Link(tmp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return Load(path), false, nil
	case err != nil:
		return State{}, false, err
	}
	return s, true, nil
}

// Clear forgets a state that was kept, and returns it.
func Clear(path string) (State, error) {
	was := Load(path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return was, err
	}
	return was, nil
}

// privateFolder makes sure of a folder that belongs to this user and is closed
// to others, and makes it when it is missing.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !fi.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case fi.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (mode %04o): chmod 700 it, or use a folder of your own", dir, fi.Mode().Perm())
	}
	return ownedByUs(fi, dir)
}
