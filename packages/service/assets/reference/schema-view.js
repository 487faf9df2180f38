import { badges, badgeTexts, disclosure, el, linkedBadges } from './elements.js'
import { isNested, nameOf, partsOf, resolve, rulesOf, typeOf } from './schema-facts.js'

/** Deep enough for every schema of the exchange; an end where one would refer to itself. */
const MAXIMUM_DEPTH = 12

/** A schema as a list of its parts, each unfolding when it is opened. */
export function schemaView(context, schema, depth = 0) {
  const { description } = context
  const parts = partsOf(description, schema)
  const facts = factsOf(resolve(description, schema))
  if (parts.length === 0 || depth >= MAXIMUM_DEPTH) return el('div', { class: 'schema' }, ...facts)
  return el(
    'div',
    { class: 'schema' },
    ...facts,
    el('ul', {}, ...parts.map((part) => el('li', {}, ...partView(context, part, depth)))),
  )
}

function partView(context, { name, schema, required }, depth) {
  const { description, meanings } = context
  const resolved = resolve(description, schema)
  const head = [
    el('code', { class: 'name' }, name),
    ' ',
    el('span', { class: 'type' }, nameOf(schema) ?? typeOf(description, schema)),
    ' ',
    ...(required ? [el('span', { class: 'required' }, 'required'), ' '] : []),
  ]
  const note = resolved['x-open-point']
  if (!isNested(description, schema))
    return [el('div', {}, ...head, ...badges(note, meanings)), ...factsOf(resolved)]
  const inside = () => [...linkedBadges(note, meanings), schemaView(context, schema, depth + 1)]
  return [disclosure([...head, ...badgeTexts(note, meanings)], inside)]
}

function factsOf(schema) {
  const facts = schema.description ? [el('p', { class: 'quiet' }, sentence(schema.description))] : []
  return [...facts, ...rulesView(schema)]
}

/** What a value must fulfil, as one paragraph, or nothing. */
export function rulesView(schema) {
  const rules = rulesOf(schema)
  return rules.length > 0 ? [el('p', { class: 'rules' }, ...rules.flatMap(ruleView))] : []
}

function ruleView({ text, code = [] }) {
  const values = code.flatMap((value) => [' ', el('code', {}, value)])
  return [el('span', { class: 'rule' }, text, ...values), ' ']
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
