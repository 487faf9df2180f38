/** `npx node -C source packages/web/gallery/serve.ts [PORT]`: every component in your own browser. */

import { startGallery } from './gallery-server.ts'

const DEFAULT_PORT = 4_180
const { address } = await startGallery(Number(process.argv[2] ?? DEFAULT_PORT))
console.log(`The gallery is at ${address}`)
