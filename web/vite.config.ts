import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  base: './', // the service may be mounted below a path
  plugins: [react()],
  build: { outDir: '../src/headwater/service/page', emptyOutDir: true },
  server: { proxy: { '/api': process.env.HEADWATER_URL ?? 'http://127.0.0.1:5000' } },
  test: { include: ['tests/**/*.test.{ts,tsx}'] },
})
