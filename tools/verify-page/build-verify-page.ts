import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, transform, type Plugin } from 'esbuild'
import { ROOT } from '../repository/repository-files.ts'
import { precompiledValidators } from './precompiled-validators.ts'

const VALIDATION = join(ROOT, 'packages/protocol/src/validation')

/** Takes the place of the module that compiles schemas at run time. */
const BROWSER_VALIDATOR = `
import { nameOf, schemaDocument } from '../schema/define.ts'
import { explain } from './explain.ts'
import { VALIDATORS } from 'precompiled-validators'
export function validatorFor(document, rule) {
  let compiled
  const accepts = (value) => (compiled ??= VALIDATORS.get(JSON.stringify(document)))(value)
  const validate = (value, options = {}) => accepts(value) ? [] : (compiled.errors ?? []).map((error) =>
    explain(error, document, { rule, nameUnknownMembers: options.nameUnknownMembers ?? false }))
  return Object.assign(validate, { accepts })
}
export const validatorOf = (schema) => validatorFor(schemaDocument(nameOf(schema)), 'API-01')
`

function validatorPlugin(validators: string): Plugin {
  return {
    name: 'precompiled-validators',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /validation\/validator\.ts$/ }, () => ({
        contents: BROWSER_VALIDATOR,
        resolveDir: VALIDATION,
        loader: 'js',
      }))
      onResolve({ filter: /^precompiled-validators$/ }, ({ path }) => ({ path, namespace: 'precompiled' }))
      onLoad({ filter: /.*/, namespace: 'precompiled' }, () => ({
        contents: validators,
        resolveDir: VALIDATION,
        loader: 'js',
      }))
    },
  }
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const read = (folder: string, name: string) => readFileSync(join(ROOT, 'packages', folder, name), 'utf8')

/** The look of all pages, and what this page has beside it. */
async function styleSheet(): Promise<string> {
  const source = read('web/assets', 'web.css') + read('log/browser', 'verify-page.css')
  const { code } = await transform(source, { loader: 'css', minify: true, charset: 'utf8' })
  return code
}

/** The verifier as one file: its policy allows its own script and style, and no connection at all. */
export async function buildVerifyPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'packages/log/browser/verify-page.js')],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2024',
    charset: 'utf8',
    conditions: ['browser', 'source'],
    legalComments: 'none',
    plugins: [validatorPlugin(await precompiledValidators())],
    logLevel: 'error',
    absWorkingDir: dirname(join(ROOT, 'package.json')),
  })
  const script = (outputFiles[0]?.text ?? '').replaceAll('</script', String.raw`<\/script`)
  const style = await styleSheet()
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`
  return read('log/browser', 'verify-page.template.html')
    .replace('{{policy}}', () => policy)
    .replace('<!-- icon -->', () =>
      read('web/assets', 'icon.svg').replace('<svg ', '<svg aria-hidden="true" ').trim(),
    )
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script>${script}</script>`)
}
