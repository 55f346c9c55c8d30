/**
 * `npm run lock`: removes the engines of packages from the lockfile. npm compares them with the Node that runs npm, and
 * would warn of some twenty packages, while everything here runs on the project's own Node.
 * `test/packaging/supply-chain.test.ts` compares the engines of installed packages with that one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const FILE = path.join(import.meta.dirname, '../package-lock.json')
const lock: { packages: Record<string, { engines?: unknown }> } = JSON.parse(readFileSync(FILE, 'utf8'))
for (const [place, entry] of Object.entries(lock.packages)) if (place !== '') delete entry.engines
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
