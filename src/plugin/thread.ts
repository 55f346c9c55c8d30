/**
 * The entry point `turnpike/plugin/thread`: a program in a thread of its own, for work that the event loop must not wait
 * for, and waits that a signal or a deadline ends.
 */
export { abortable, onAbort } from '../core/abortable.ts'
export { type FromThread, ThreadHost, type ToThread } from '../core/system/thread-host.ts'
