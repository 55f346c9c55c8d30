import { availableParallelism } from 'node:os'
import { stripTests } from './scripts/bundle/stripped-tests.ts'
import { bundleSources } from './scripts/bundle/test-sources.ts'
import { bundlePackages } from './scripts/one-file-packages.mjs'

/** Files that compute or wait for long start first: as the last one, each would keep one core busy and the others idle. */
const LONG = /[\\/](eval|test[\\/](clients[\\/]matrix|docs|faults|packaging|soak|stores[\\/]sql))[\\/]/

const isDrill = process.env.TURNPIKE_DRILL === 'on'
/** Coverage is of the sources; and who reads stacks may want them of the sources, too. */
const isFromSources = process.env.NODE_V8_COVERAGE !== undefined || process.env.TURNPIKE_TEST_SOURCES === 'plain'

export default {
  extensions: ['ts'],
  // Tests of packages that are heavy and installed on demand, and those that only `npm run drill:cluster` has time for.
  files: [
    'src/**/*.test.ts',
    'plugins/**/*.test.ts',
    'test/**/*.test.ts',
    'eval/**/*.test.ts',
    ...(isDrill ? [] : ['!test/witnesses/**', '!test/cluster/drill/**']),
  ],
  require: ['./test/support/seed-properties.ts'],
  nodeArguments: [
    '--disable-warning=ExperimentalWarning',
    '--import=./test/support/one-file-packages.mjs',
    '--import=./test/support/bundled-sources.mjs',
  ],
  timeout: '100s',
  sortTestFiles: (one, other) => Number(LONG.test(other)) - Number(LONG.test(one)),
  // Two more files than cores: many wait for processes or for time.
  concurrency: availableParallelism() + 2,
  environmentVariables: {
    NODE_COMPILE_CACHE: 'node_modules/.cache/turnpike',
    TURNPIKE_TEST_PACKAGES: await bundlePackages(),
    TURNPIKE_TEST_SOURCES: isFromSources ? '' : await bundleSources(),
    TURNPIKE_TEST_STRIPPED: isFromSources ? '' : stripTests(),
  },
}
