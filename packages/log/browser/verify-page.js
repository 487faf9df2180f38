import {
  DEFAULT_CAPSULE_BYTES,
  LogError,
  packageOfEnvelope,
  parsePolicy,
  policyIn,
  renderCapsuleText,
  verifyCapsuleFile,
  verifySplitViewFile,
} from '../src/index.ts'
import { keyScope } from '../src/capsule/verdict-sentence.ts'
import { visibleText } from '../src/capsule/visible-text.ts'

const element = (id) => document.getElementById(id)
const capsule = element('capsule')
const drop = element('drop')
/** By exit code: what holds but is not proved is amber, because nothing speaks against it. */
const TONES = { 0: 'good', 3: 'warn' }
const FINGERPRINT = /^(agent_[A-Za-z0-9_-]+)=([A-Za-z0-9_-]{43})$/u

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
  if (file.size > DEFAULT_CAPSULE_BYTES)
    return show('The file is too large for this page. aex verify --maximum-size reads larger ones.', 'bad')
  try {
    const policy = await readPolicy()
    const bytes = new Uint8Array(await file.arrayBuffer())
    const given = policy ? { policy } : {}
    const split = await verifySplitViewFile(bytes, given)
    if (split) return show(split.sentence, 'bad', { details: split.key })
    const inputs = await readInputs()
    if (inputs.fault !== undefined) return show(inputs.fault, 'bad')
    const asked = { ...inputs, require: element('require').value, strict: element('strict').checked }
    const result = await verifyCapsuleFile(bytes, { ...given, ...asked })
    show(result.sentence, TONES[result.exitCode] ?? 'bad', {
      scope: keyScope(result),
      details: renderCapsuleText(result),
    })
  } catch (error) {
    show(
      error instanceof LogError ? `The policy cannot be used: ${error.message}` : 'The verification failed.',
      'bad',
    )
  }
}

async function readPolicy() {
  const file = element('policy').files?.[0]
  return file && parsePolicy(new Uint8Array(await file.arrayBuffer()))
}

/** What else the reader has: the same inputs as those of `aex verify`. */
async function readInputs() {
  const [policies, contents, fingerprints] = [[], {}, {}]
  for (const file of element('inputs').files ?? []) {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const [policy, packageId] = [policyIn(bytes), packageOfEnvelope(bytes)]
    if (policy) policies.push(policy)
    else if (packageId !== undefined) contents[packageId] = bytes
    else return { fault: `${file.name} is neither a downloaded envelope nor a policy_envelope.` }
  }
  for (const line of element('fingerprints')
    .value.split(/\s+/u)
    .filter((text) => text !== '')) {
    const [, agentId, fingerprint] = FINGERPRINT.exec(line) ?? []
    if (agentId === undefined)
      return { fault: 'Write each fingerprint as agent_id=FINGERPRINT, with 43 characters.' }
    fingerprints[agentId] = [...(fingerprints[agentId] ?? []), fingerprint]
  }
  return { policies, contents, fingerprints }
}

/** As visible text only: nothing of a file becomes markup, or changes the order of what is read. */
function show(sentence, tone, { scope = '', details = '' } = {}) {
  const strong = document.createElement('strong')
  strong.textContent = visibleText(sentence)
  const text = document.createElement('div')
  text.append(paragraph(strong), ...(scope === '' ? [] : [paragraph(visibleText(scope))]))
  const mark = document.createElement('span')
  mark.className = 'mark'
  mark.ariaHidden = 'true'
  const notice = document.createElement('div')
  notice.className = `notice ${tone}`
  notice.append(mark, text)
  element('verdict').replaceChildren(notice)
  const pre = element('details')
  pre.textContent = details.split('\n').map(visibleText).join('\n')
  pre.hidden = details === ''
}

function paragraph(content) {
  const line = document.createElement('p')
  line.append(content)
  return line
}
