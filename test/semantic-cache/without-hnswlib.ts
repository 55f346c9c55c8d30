/** Preloaded into a gateway, it makes the optional package `hnswlib-node` missing there, in its threads too. */
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'hnswlib-node') throw new Error("Cannot find package 'hnswlib-node'")
    return next(specifier, context)
  },
})
