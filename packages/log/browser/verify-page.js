import {
  DEFAULT_CAPSULE_BYTES,
  describeVerdict,
  LogError,
  packageOfEnvelope,
  parsePolicy,
  policyIn,
  verifyCapsuleFile,
  verifySplitViewFile,
  visibleText,
} from '../src/index.ts'

const element = (id) => document.getElementById(id)
const capsule = element('capsule')
const drop = element('drop')
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
    if (split) return show(split.sentence, 'bad', { sections: [{ title: 'Log key', items: [split.key] }] })
    const inputs = await readInputs()
    if (inputs.fault !== undefined) return show(inputs.fault, 'bad')
    const asked = { ...inputs, require: element('require').value, strict: element('strict').checked }
    const result = await verifyCapsuleFile(bytes, { ...given, ...asked })
    const { sentence, tone, ...report } = describeVerdict(result)
    show(sentence, tone, report)
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
function show(sentence, tone, { facts = [], sections = [], details = [] } = {}) {
  const mark = made('span')
  mark.className = 'mark'
  mark.ariaHidden = 'true'
  const notice = made('div', mark, made('p', made('strong', sentence)))
  notice.className = `notice ${tone}`
  element('verdict').replaceChildren(notice)
  const level = { title: 'Level and keys', items: facts.map(({ name, value }) => `${name}: ${value}`) }
  element('report').replaceChildren(
    ...[...sections, ...(facts.length > 0 ? [level] : [])].flatMap(({ title, items, text }) => [
      made('h2', title),
      listOf(items),
      ...(text === undefined ? [] : [linesOf(text)]),
    ]),
    ...details.map(({ title, items }) =>
      made('details', made('summary', `${title} (${items.length})`), listOf(items)),
    ),
  )
}

function listOf(items) {
  return made('ul', ...items.map((item) => made('li', item)))
}

function linesOf(text) {
  const found = document.createElement('pre')
  found.textContent = text.split('\n').map(visibleText).join('\n')
  return found
}

function made(name, ...content) {
  const found = document.createElement(name)
  found.append(...content.map((part) => (typeof part === 'string' ? visibleText(part) : part)))
  return found
}
