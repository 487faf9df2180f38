import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../repository/repository-files.ts'
import { checkPicture, pictureFile } from './picture-folder.ts'

/** Browser tests that take the pictures of the manual on their way. */
const TESTS = [
  'packages/desk/browser/desk-answers.browser.ts',
  'packages/gateway/browser/passkeys.browser.ts',
]
const PREFIX = 'picture-'

/** Takes the pictures of the desk: those of its browser tests, so that a picture shows what works. */
export function takeDeskPictures(): void {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pictures-'))
  try {
    const { status } = spawnSync(process.execPath, ['-C', 'source', '--test', ...TESTS], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, AEX_SCREENSHOTS: folder },
    })
    if (status !== 0) throw new Error('a browser test that takes pictures failed')
    for (const file of globSync(`${PREFIX}*.png`, { cwd: folder }).toSorted()) {
      const name = file.slice(PREFIX.length, -'.png'.length)
      copyFileSync(join(folder, file), pictureFile(name))
      checkPicture(name)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
