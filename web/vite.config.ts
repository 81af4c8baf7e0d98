import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  base: './', // the service may be mounted below a path
  plugins: [react()],
  build: {
    outDir: '../src/headwater/service/page',
    emptyOutDir: true,
    chunkSizeWarningLimit: 1_600, // kB: Swagger UI is one file
    modulePreload: { polyfill: false },
    rollupOptions: { input: ['index.html', 'docs/index.html'] }, // the page, and the API's reference
  },
  server: { proxy: { '/api': process.env.HEADWATER_URL ?? 'http://127.0.0.1:5000' } },
  test: { include: ['tests/**/*.test.{ts,tsx}'] },
})
