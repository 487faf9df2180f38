import {
  LogError,
  MAXIMUM_CAPSULE_BYTES,
  parsePolicy,
  renderCapsuleText,
  verifyCapsuleFile,
  verifySplitViewFile,
} from '../src/index.ts'
import { keyScope } from '../src/capsule/verdict-sentence.ts'
import { visibleText } from '../src/capsule/visible-text.ts'

const element = (id) => document.getElementById(id)
const capsule = element('capsule')
const drop = element('drop')

element('served').hidden = location.protocol === 'file:'

element('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void verify()
})

for (const name of ['dragover', 'dragleave', 'drop'])
  drop.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragover')
  })
drop.addEventListener('drop', ({ dataTransfer }) => {
  if (!dataTransfer || dataTransfer.files.length === 0) return
  capsule.files = dataTransfer.files
  void verify()
})

async function verify() {
  const file = capsule.files?.[0]
  if (!file) return
  if (file.size > MAXIMUM_CAPSULE_BYTES) return show('The file is too large.', false)
  try {
    const policy = await readPolicy()
    const bytes = new Uint8Array(await file.arrayBuffer())
    const given = policy ? { policy } : {}
    const split = await verifySplitViewFile(bytes, given)
    if (split) return show(split.sentence, false, { details: split.key })
    const asked = { require: element('require').value, strict: element('strict').checked }
    const result = await verifyCapsuleFile(bytes, { ...given, ...asked })
    show(result.sentence, result.exitCode === 0, {
      scope: keyScope(result),
      details: renderCapsuleText(result),
    })
  } catch (error) {
    show(
      error instanceof LogError ? `The policy cannot be used: ${error.message}` : 'The verification failed.',
      false,
    )
  }
}

async function readPolicy() {
  const file = element('policy').files?.[0]
  return file && parsePolicy(new Uint8Array(await file.arrayBuffer()))
}

/** As visible text only: nothing of a file becomes markup, or changes the order of what is read. */
function show(sentence, isGood, { scope = '', details = '' } = {}) {
  const lines = [sentence, scope].filter((text) => text !== '').map(paragraph)
  lines[0].className = isGood ? 'good' : 'bad'
  element('verdict').replaceChildren(...lines)
  const pre = element('details')
  pre.textContent = details.split('\n').map(visibleText).join('\n')
  pre.hidden = details === ''
}

function paragraph(text) {
  const line = document.createElement('p')
  line.textContent = visibleText(text)
  return line
}
