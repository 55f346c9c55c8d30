import { Pool } from 'undici'

/** Preloaded into a gateway: its connections to providers refuse to be closed. */
Pool.prototype.destroy = () => Promise.reject(new Error('the connections refuse to close'))
