import { addressComponent, checkedAddress, checkedOwnAddress } from './address.ts'
import { escape } from './escape.ts'
import { findHoles, isAddressAttribute, isRefusedAttribute, type Hole } from './holes.ts'

/** Finished HTML. The private member makes the type nominal: no string and no literal object passes for it. */
class SafeHtml {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Attributes that are there or not, as `attributes()` makes them. */
class SafeAttributes extends SafeHtml {
  readonly #kind = 'attributes'

  get kind(): string {
    return this.#kind
  }
}

export type Html = SafeHtml
export type Attributes = SafeAttributes
export type Part = string | number | bigint | false | null | undefined | Html | readonly Part[]

const HOLES = new WeakMap<TemplateStringsArray, readonly Hole[]>()

/** HTML whose interpolations are escaped by where they are. A template that cannot be made safe throws when it is first used. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let holes = HOLES.get(strings)
  if (!holes) HOLES.set(strings, (holes = findHoles(strings)))
  let text = strings[0] ?? ''
  for (const [index, hole] of holes.entries()) text += fill(hole, parts[index]) + (strings[index + 1] ?? '')
  return new SafeHtml(text)
}

/** A constant of the source code that is HTML already. The type refuses what is not a literal. */
export function trusted<T extends string>(constant: string extends T ? never : T): Html {
  return new SafeHtml(constant)
}

/** For a place between attributes: `<input ${attributes({ required: true })}>`. Null, undefined and false leave one out. */
export function attributes(
  values: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Attributes {
  const made = Object.entries(values).map(([name, value]) => {
    if (!/^[a-z][a-z\d-]*$/u.test(name) || isRefusedAttribute(name))
      throw new TypeError(`the attribute ${JSON.stringify(name)} cannot be set`)
    if (value === null || value === undefined || value === false) return ''
    if (value === true) return ` ${name}`
    const text = isAddressAttribute(name) ? checkedAddress(String(value)) : String(value)
    return ` ${name}="${escape(text)}"`
  })
  return new SafeAttributes(made.join('').trimStart())
}

function fill(hole: Hole, part: Part): string {
  if (hole === 'text') return inText(part)
  if (hole === 'attributes') {
    if (part instanceof SafeAttributes) return part.toString()
    throw new TypeError('only attributes() can be placed between attributes')
  }
  const text = plain(part)
  if (hole === 'attribute') return escape(text)
  if (hole === 'address') return escape(checkedAddress(text))
  return escape(hole === 'own-address' ? checkedOwnAddress(text) : addressComponent(text))
}

function inText(part: Part): string {
  if (part instanceof SafeAttributes) throw new TypeError('attributes() belongs inside a tag')
  if (part instanceof SafeHtml) return part.toString()
  return Array.isArray(part) ? part.map(inText).join('') : escape(plain(part))
}

/** A boolean true, an object or a function has no text that a reader would understand. */
function plain(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'string') return part
  if (typeof part === 'number' || typeof part === 'bigint') return String(part)
  throw new TypeError(`a ${typeof part} cannot be written here`)
}
