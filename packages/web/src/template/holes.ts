/** Finds the context of every interpolation from the constant parts of a template (WHATWG HTML, section 13.2.5). */

export type Hole = 'text' | 'attributes' | 'attribute' | 'address' | 'own-address' | 'address-component'

type State =
  | { readonly at: 'text' }
  | { readonly at: 'tag'; readonly tag: string }
  | { readonly at: 'value'; readonly tag: string; readonly attribute: string; readonly quote: string }

const ADDRESS_ATTRIBUTES = new Set(
  'action background cite data formaction href manifest poster src xlink:href'.split(' '),
)
/** Values that a browser runs, parses as markup or reads as several addresses. */
const REFUSED_ATTRIBUTE = /^(?:on.*|style|srcdoc|srcset|ping|http-equiv)$/iu
/** Elements whose attributes redirect, embed or change how other addresses resolve. */
const REFUSED_TAG = /^(?:base|embed|iframe|meta|object|style)$/iu
/** What they load acts on the page, so it comes from this site. */
const LOADING_TAG = /^(?:link|script)$/iu
const RAW_TEXT = /^(?:script|style|xmp|noembed|noframes|plaintext|template)$/iu

const TEXT: State = { at: 'text' }

/** Whether an interpolated value may be placed there at all; `attributes()` asks the same question. */
export function isRefusedAttribute(name: string): boolean {
  return REFUSED_ATTRIBUTE.test(name)
}

export function isAddressAttribute(name: string): boolean {
  return ADDRESS_ATTRIBUTES.has(name.toLowerCase())
}

/** One entry for each interpolation. Throws where a template would need an escaping that does not exist. */
export function findHoles(strings: readonly string[]): readonly Hole[] {
  let state = TEXT
  const holes: Hole[] = []
  strings.forEach((chunk, index) => {
    const before = state
    state = read(state, chunk)
    if (index === strings.length - 1) return
    holes.push(holeOf(state, chunk, before.at === 'value' && state === before))
  })
  if (state.at !== 'text') throw new TypeError('a template must end outside of tags')
  return holes
}

/** `continued`: an earlier hole is part of the same attribute value. */
function holeOf(state: State, chunk: string, continued: boolean): Hole {
  if (state.at === 'text') return 'text'
  if (REFUSED_TAG.test(state.tag)) throw new TypeError(`no interpolation in <${state.tag}>`)
  if (state.at === 'tag') {
    if (LOADING_TAG.test(state.tag) || !/\s$/u.test(chunk))
      throw new TypeError(`no interpolation in a name of <${state.tag}>`)
    return 'attributes'
  }
  const { tag, attribute, quote } = state
  if (isRefusedAttribute(attribute)) throw new TypeError(`no interpolation in the attribute ${attribute}`)
  if (!isAddressAttribute(attribute)) return 'attribute'
  if (continued || !chunk.endsWith(quote)) return 'address-component'
  return LOADING_TAG.test(tag) ? 'own-address' : 'address'
}

function read(from: State, chunk: string): State {
  let state = from
  let rest = chunk
  while (rest !== '') {
    if (state.at === 'text') [state, rest] = readText(rest)
    else if (state.at === 'tag') [state, rest] = readTag(state.tag, rest)
    else {
      const end = rest.indexOf(state.quote)
      if (end < 0) return state
      rest = rest.slice(end + 1)
      state = { at: 'tag', tag: state.tag }
    }
  }
  return state
}

function readText(text: string): [State, string] {
  const start = text.indexOf('<')
  if (start < 0) return [TEXT, '']
  const markup = text.slice(start)
  const constant = /^(?:<!--.*?-->|<!doctype[^>]*>|<\/[a-z][^>]*>)/isu.exec(markup)
  if (constant) return [TEXT, markup.slice(constant[0].length)]
  const tag = /^<([a-z][a-z\d:-]*)(?=[\s/>])/iu.exec(markup)?.[1]
  if (tag === undefined) throw new TypeError('no interpolation in a comment, an end tag or a tag name')
  return [{ at: 'tag', tag }, markup.slice(tag.length + 1)]
}

function readTag(tag: string, text: string): [State, string] {
  const inside = text.replace(/^[\s/]+/u, '')
  if (inside === '') return [{ at: 'tag', tag }, '']
  if (inside.startsWith('>')) return afterTag(tag, inside.slice(1))
  const [matched, attribute = '', quote] = /^([^\s"'<>/=]+)(?:\s*=\s*(["']?))?/u.exec(inside) ?? ['']
  if (matched === '' || quote === '') throw new TypeError(`an attribute of <${tag}> has no quoted value`)
  const rest = inside.slice(matched.length)
  if (quote !== undefined) return [{ at: 'value', tag, attribute, quote }, rest]
  if (rest === '') throw new TypeError(`no interpolation in a name of <${tag}>`)
  return [{ at: 'tag', tag }, rest]
}

/** The text of a script is no HTML text: escaping would neither protect it nor keep its meaning. */
function afterTag(tag: string, rest: string): [State, string] {
  if (!RAW_TEXT.test(tag)) return [TEXT, rest]
  const end = rest.search(new RegExp(`</${tag}[\\s>]`, 'iu'))
  if (end < 0) throw new TypeError(`no interpolation inside <${tag}>`)
  return [TEXT, rest.slice(end)]
}
