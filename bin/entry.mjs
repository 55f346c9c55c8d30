// Imports a module for programs outside of a gateway, such as a plugin's own tests. A gateway gives its plugins the modules
// that it runs itself. In a checkout it is the source; an installed package has the bundle alone.
import { existsSync } from 'node:fs'

/** The exports of an entry point: `plugin`, `plugin/cache`, … */
export function importEntry(name) {
  const source = new URL(`../src/${name}.ts`, import.meta.url)
  return import(existsSync(source) ? source.href : new URL(`../dist/${name}.js`, import.meta.url).href)
}
