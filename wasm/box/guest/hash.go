//go:build wasip1

package guest

// hostHash is applet.Ctx.Hash over the host's function.
func hostHash(state, data []byte) bool {
	const most = 1 << 20
	for len(data) > 0 {
		part := data[:min(len(data), most)]
		data = data[len(part):]
		if hashData(&state[0], uint32(len(state)), &part[0], uint32(len(part))) != 0 {
			return false
		}
	}
	return true
}
