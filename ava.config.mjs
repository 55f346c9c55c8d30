import { availableParallelism } from 'node:os'

export default {
  extensions: ['ts'],
  files: ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'test/**/*.test.ts', 'eval/**/*.test.ts'],
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '60s',
  // Most files start processes of their own: more at once would only wait for each other, and some beyond their patience.
  concurrency: availableParallelism(),
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/turnpike' },
}
