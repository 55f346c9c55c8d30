// Loaded before the gateway that a benchmark starts, into all of its threads: it reaches this machine and no other, so
// that no module, whatever its options are, can ask a service that is paid for.
import { Socket } from 'node:net'

const LOOPBACK = /^(127\.|::1$|localhost$)/
const connect = Socket.prototype.connect

interface Place {
  readonly host?: string
  readonly path?: string
  readonly port?: unknown
}

Object.assign(Socket.prototype, {
  connect(this: Socket, ...given: unknown[]) {
    // Node's own callers give a list that is prepared already; the others an object, or a port and a host.
    const [first, second] = (Array.isArray(given[0]) ? given[0] : given) as [unknown, unknown]
    const place: Place =
      typeof first === 'object' && first !== null ? first : { host: typeof second === 'string' ? second : 'localhost' }
    if (place.path === undefined && !LOOPBACK.test(place.host ?? 'localhost')) {
      const refused = Object.assign(new Error(`turnpike bench asks nobody else: ${place.host}`), { code: 'EACCES' })
      process.nextTick(() => this.destroy(refused))
      return this
    }
    return Reflect.apply(connect, this, given)
  },
})

// Who has started it may be killed, and cannot stop it then.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
