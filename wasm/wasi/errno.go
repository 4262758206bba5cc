package wasi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/donax-sh/donax/sandbox"
)

// errno is an error number of preview 1.
type errno uint32

const (
	eSuccess     errno = 0
	e2BIG        errno = 1
	eACCES       errno = 2
	eAGAIN       errno = 6
	eBADF        errno = 8
	eBUSY        errno = 10
	eCHILD       errno = 12
	eDQUOT       errno = 19
	eEXIST       errno = 20
	eFAULT       errno = 21
	eFBIG        errno = 22
	eILSEQ       errno = 25
	eINTR        errno = 27
	eINVAL       errno = 28
	eIO          errno = 29
	eISDIR       errno = 31
	eLOOP        errno = 32
	eMFILE       errno = 33
	eMLINK       errno = 34
	eNAMETOOLONG errno = 37
	eNFILE       errno = 41
	eNODEV       errno = 43
	eNOENT       errno = 44
	eNOEXEC      errno = 45
	eNOMEM       errno = 48
	eNOSPC       errno = 51
	eNOSYS       errno = 52
	eNOTDIR      errno = 54
	eNOTEMPTY    errno = 55
	eNOTSOCK     errno = 57
	eNOTSUP      errno = 58
	eNOTTY       errno = 59
	eNXIO        errno = 60
	eOVERFLOW    errno = 61
	ePERM        errno = 63
	ePIPE        errno = 64
	eRANGE       errno = 68
	eROFS        errno = 69
	eSPIPE       errno = 70
	eSRCH        errno = 71
	eSTALE       errno = 72
	eTIMEDOUT    errno = 73
	eTXTBSY      errno = 74
	eXDEV        errno = 75
	eNOTCAPABLE  errno = 76
)

// numbers gives host error numbers their number in preview 1. A switch would
// not compile where two names share a number.
var numbers = map[syscall.Errno]errno{
	syscall.E2BIG: e2BIG, syscall.EACCES: eACCES, syscall.EAGAIN: eAGAIN, syscall.EBADF: eBADF,
	syscall.EBUSY: eBUSY, syscall.ECHILD: eCHILD, syscall.EDQUOT: eDQUOT, syscall.EEXIST: eEXIST,
	syscall.EFAULT: eFAULT, syscall.EFBIG: eFBIG, syscall.EILSEQ: eILSEQ, syscall.EINTR: eINTR,
	syscall.EINVAL: eINVAL, syscall.EIO: eIO, syscall.EISDIR: eISDIR, syscall.ELOOP: eLOOP,
	syscall.EMFILE: eMFILE, syscall.EMLINK: eMLINK, syscall.ENAMETOOLONG: eNAMETOOLONG,
	syscall.ENFILE: eNFILE, syscall.ENODEV: eNODEV, syscall.ENOENT: eNOENT, syscall.ENOEXEC: eNOEXEC,
	syscall.ENOMEM: eNOMEM, syscall.ENOSPC: eNOSPC, syscall.ENOSYS: eNOSYS, syscall.ENOTDIR: eNOTDIR,
	syscall.ENOTEMPTY: eNOTEMPTY, syscall.ENOTSUP: eNOTSUP, syscall.ENOTTY: eNOTTY, syscall.ENXIO: eNXIO,
	syscall.EOVERFLOW: eOVERFLOW, syscall.EPERM: ePERM, syscall.EPIPE: ePIPE, syscall.ERANGE: eRANGE,
	syscall.EROFS: eROFS, syscall.ESPIPE: eSPIPE, syscall.ESRCH: eSRCH, syscall.ESTALE: eSTALE,
	syscall.ETIMEDOUT: eTIMEDOUT, syscall.ETXTBSY: eTXTBSY, syscall.EXDEV: eXDEV,
}

// number returns the number of err, and whether err is one that a program
// can be told. The others end the run: the context's end, a limit, and
// whatever nobody foresaw.
func number(err error) (errno, bool) {
	var limit *sandbox.LimitError
	if err == nil {
		return eSuccess, true
	}
	if errors.As(err, &limit) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	var host syscall.Errno
	if errors.As(err, &host) {
		if n, ok := numbers[host]; ok {
			return n, true
		}
		return eIO, true
	}
	for _, c := range []struct {
		err error
		n   errno
	}{
		{io.ErrClosedPipe, ePIPE},
		{fs.ErrNotExist, eNOENT},
		{fs.ErrExist, eEXIST},
		{fs.ErrPermission, eACCES},
		{fs.ErrClosed, eBADF},
		{fs.ErrInvalid, eINVAL},
		{errors.ErrUnsupported, eNOTSUP},
	} {
		if errors.Is(err, c.err) {
			return c.n, true
		}
	}
	return eIO, false
}

// tell returns the number of a file system's error.
func (j *Job) tell(err error) errno {
	n, ok := number(err)
	if !ok && n == 0 {
		j.stop(err)
	}
	return n
}

// tellStream returns the number of a stream's error. An error without a
// number comes from the session, not from a file: the run is over.
func (j *Job) tellStream(err error) errno {
	n, ok := number(err)
	if !ok {
		j.stop(err)
	}
	return n
}
