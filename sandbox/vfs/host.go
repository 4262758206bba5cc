package vfs

import (
	"fmt"
	"path/filepath"
)

// HostConfig describes the mount of a host folder.
type HostConfig struct {
	Source string    // folder of the host
	Path   string    // where the sandbox sees it
	Mode   MountMode // "" means CopyOnWrite

	// Quota counts what the session adds, in memory for cow and on the host for
	// rw; nil means one of its own with the defaults.
	Quota *Quota
	// Protect adds places that an rw mount refuses to change.
	Protect ProtectConfig
	// Unprotected lets an rw mount change also what the host later runs by
	// itself; see [Protect].
	Unprotected bool
}

// HostMount opens a host folder and puts round it what its mode needs: ro is
// ReadOnly over Root, cow is an Overlay over that, rw is a Quota over Protect
// over Root. The Root is to be closed with the session. Errors name the host
// folder, being for the operator.
func HostMount(c HostConfig) (MountPoint, *Root, error) {
	if c.Quota == nil {
		c.Quota = NewQuota(QuotaConfig{})
	}
	if c.Mode == "" {
		c.Mode = CopyOnWrite
	}
	root, err := OpenRoot(c.Source)
	if err != nil {
		return MountPoint{}, nil, err
	}
	p := MountPoint{Path: c.Path, Mode: c.Mode}
	switch c.Mode {
	case ReadOnlyMount:
		p.FS = NewReadOnly(root)
	case CopyOnWrite:
		p.FS, err = NewOverlay(NewReadOnly(root), MemConfig{Quota: c.Quota})
	case ReadWrite:
		var fsys FS = root
		if !c.Unprotected {
			if c.Protect.Source, err = realPath(c.Source); err != nil {
				break
			}
			fsys = NewProtect(root, c.Protect)
		}
		p.FS = c.Quota.Limit(fsys)
	default:
		err = fmt.Errorf("unknown mount mode %q", c.Mode)
	}
	if err != nil {
		root.Close()
		return MountPoint{}, nil, err
	}
	return p, root, nil
}

func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
