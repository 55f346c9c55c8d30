/** The entry point `turnpike/plugin/thread`: a program in a thread of its own, for work that the event loop must not wait for. */
export { type FromThread, ThreadHost, type ToThread } from '../core/system/thread-host.ts'
