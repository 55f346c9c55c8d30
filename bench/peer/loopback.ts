// Loaded before the peer, which would listen on all interfaces: binds every server of its process to 127.0.0.1, at the
// port the benchmark chose.
import { Server } from 'node:net'

const listen = Server.prototype.listen
const port = Number(process.env.BENCH_PEER_PORT)

Object.assign(Server.prototype, {
  listen(this: Server, ...args: unknown[]) {
    const callback = args.find((argument): argument is () => void => typeof argument === 'function')
    return listen.call(this, { port, host: '127.0.0.1' }, callback)
  },
})
