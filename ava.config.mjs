export default {
  extensions: ['ts'],
  files: ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'test/**/*.test.ts', 'eval/**/*.test.ts'],
  nodeArguments: ['--disable-warning=ExperimentalWarning'],
  timeout: '60s',
  concurrency: 4,
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/turnpike' },
}
