package wasi

import (
	"math"
	"time"
)

// preview1 lists the functions of wasi_snapshot_preview1.
func preview1() map[string]function {
	return map[string]function{
		"args_get":                {"ii", argsGet},
		"args_sizes_get":          {"ii", argsSizesGet},
		"clock_res_get":           {"ii", clockResGet},
		"clock_time_get":          {"iIi", clockTimeGet},
		"environ_get":             {"ii", environGet},
		"environ_sizes_get":       {"ii", environSizesGet},
		"fd_advise":               {"iIIi", fdAdvise},
		"fd_allocate":             {"iII", fdAllocate},
		"fd_close":                {"i", fdClose},
		"fd_datasync":             {"i", fdSync},
		"fd_fdstat_get":           {"ii", fdFdstatGet},
		"fd_fdstat_set_flags":     {"ii", fdFdstatSetFlags},
		"fd_fdstat_set_rights":    {"iII", fdFdstatSetRights},
		"fd_filestat_get":         {"ii", fdFilestatGet},
		"fd_filestat_set_size":    {"iI", fdFilestatSetSize},
		"fd_filestat_set_times":   {"iIIi", fdFilestatSetTimes},
		"fd_pread":                {"iiiIi", fdPread},
		"fd_prestat_dir_name":     {"iii", fdPrestatDirName},
		"fd_prestat_get":          {"ii", fdPrestatGet},
		"fd_pwrite":               {"iiiIi", fdPwrite},
		"fd_read":                 {"iiii", fdRead},
		"fd_readdir":              {"iiiIi", fdReaddir},
		"fd_renumber":             {"ii", fdRenumber},
		"fd_seek":                 {"iIii", fdSeek},
		"fd_sync":                 {"i", fdSync},
		"fd_tell":                 {"ii", fdTell},
		"fd_write":                {"iiii", fdWrite},
		"path_create_directory":   {"iii", pathCreateDirectory},
		"path_filestat_get":       {"iiiii", pathFilestatGet},
		"path_filestat_set_times": {"iiiiIIi", pathFilestatSetTimes},
		"path_link":               {"iiiiiii", pathLink},
		"path_open":               {"iiiiiIIii", pathOpen},
		"path_readlink":           {"iiiiii", pathReadlink},
		"path_remove_directory":   {"iii", pathRemoveDirectory},
		"path_rename":             {"iiiiii", pathRename},
		"path_symlink":            {"iiiii", pathSymlink},
		"path_unlink_file":        {"iii", pathUnlinkFile},
		"poll_oneoff":             {"iiii", pollOneoff},
		"proc_exit":               {"i", procExit},
		"proc_raise":              {"i", procRaise},
		"random_get":              {"ii", randomGet},
		"sched_yield":             {"", schedYield},
		"sock_accept":             {"iii", noSocket},
		"sock_recv":               {"iiiiii", noSocket},
		"sock_send":               {"iiiii", noSocket},
		"sock_shutdown":           {"ii", noSocket},
	}
}

// donax lists the functions of the module donax. The box's additions to Go's
// standard library, and package guest, are its users.
func donax() map[string]function {
	return map[string]function{
		"create_mode": {"i", func(c *call) errno { c.mode = c.u32(0) & 0o7777; return 0 }},
		"umask":       {"i", func(c *call) errno { old := c.umask; c.umask = c.u32(0) & 0o777; return errno(old) }},
		"fd_chmod":    {"ii", chmodFD},
		"path_chmod":  {"iiiii", chmodPath},
		"proc_spawn":  {"iii", procSpawn},
		"proc_wait":   {"iIii", procWait},
		"proc_kill":   {"ii", procKill},
		"net_fetch":   {"iiii", netFetch},
		"hash":        {"iiii", hashData},
		"deflate":     {"iiiiiiii", deflateData},
		"find":        {"iiiiii", findText},
		"linger":      {"I", func(c *call) errno { c.linger = time.Duration(min(c.p[0], math.MaxInt64)); return 0 }},
	}
}

// noSocket answers for all sockets: there are none.
func noSocket(c *call) errno {
	if _, e := c.get(c.u32(0)); e != 0 {
		return e
	}
	return eNOTSOCK
}

func procExit(c *call) errno { panic(&Exit{c.u32(0)}) }

// procRaise ends the program as the signal would; 0 only asks.
func procRaise(c *call) errno {
	switch s := c.u32(0); {
	case s == 0:
		return 0
	case s > 30:
		return eINVAL
	default:
		panic(&Exit{128 + s})
	}
}

func argsGet(c *call) errno         { return c.putList(c.cfg.Args) }
func argsSizesGet(c *call) errno    { return c.putSizes(c.cfg.Args) }
func environGet(c *call) errno      { return c.putList(c.cfg.Env) }
func environSizesGet(c *call) errno { return c.putSizes(c.cfg.Env) }

func (c *call) putSizes(list []string) errno {
	n := 0
	for _, s := range list {
		n += len(s) + 1
	}
	if e := c.mem.put32(c.u32(0), uint32(len(list))); e != 0 {
		return e
	}
	return c.mem.put32(c.u32(1), uint32(n))
}

// putList writes the strings, each with a NUL, from the second parameter on,
// and pointers to them from the first on.
func (c *call) putList(list []string) errno {
	at := c.u32(1)
	for i, s := range list {
		if e := c.mem.put32(c.u32(0)+uint32(i)*4, at); e != 0 {
			return e
		}
		b, ok := c.mem.bytes(at, uint32(len(s)+1))
		if !ok {
			return eFAULT
		}
		copy(b, s)
		b[len(s)] = 0
		at += uint32(len(b))
	}
	return 0
}
