import { defineConfig } from 'vite'

/**
 * Built files are named by their digest, so that browsers may cache them forever; nothing is inlined, so that the
 * content security policy needs no exception.
 */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npm run dev:dashboard` beside a gateway on its default port.
  server: { proxy: { '/dashboard/api': 'http://127.0.0.1:3099', '/v1': 'http://127.0.0.1:3099' } },
})
