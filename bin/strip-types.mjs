// Node runs TypeScript as it is, but not below a folder `node_modules`, where an installed package lies. There the types
// of turnpike's own files are stripped by Node's own means, in every thread.
import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'

const OWN = new URL('../', import.meta.url).href

registerHooks({
  load(url, context, nextLoad) {
    const [file] = url.split('?')
    if (!file.startsWith(OWN) || !file.endsWith('.ts')) return nextLoad(url, context)
    const source = stripTypeScriptTypes(readFileSync(new URL(file), 'utf8'))
    return { format: 'module', source, shortCircuit: true }
  },
})
