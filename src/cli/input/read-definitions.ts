import { AppError } from '../../errors/app-error.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { refuseMalformed } from '../../lib/json/scan/locate-value.js'
import { scanElements, scanMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'

/** How a document becomes an input: wrapped as one of two kinds, or as it is. */
export const INPUT_FORMS = ['pipeline', 'application', 'raw'] as const
export type InputForm = (typeof INPUT_FORMS)[number]

/** What was made of a document: `request` is what it has below `input`. */
export type ReadForm = InputForm | 'request'

/** One pipeline definition, as the policies are asked about it. */
export interface Definition {
  /** Its own name, or undefined where it has none. */
  readonly name: string | undefined
  /** The policy input as JSON text, number texts kept. */
  readonly input: Uint8Array
  readonly form: ReadForm
}

/** What a definition has one of: one that was made from a template may have no stages of its own. */
const DEFINITION_MEMBERS = ['stages', 'template', 'config', 'triggers', 'application']
/** All that one has which was only begun. */
const LABELS = ['id', 'name', 'description']
/** The members under which the orchestrator sends what is to be saved. */
const WRAPPERS: readonly string[] = ['new', 'pipeline', 'app']
const WRAPPER_OF = { pipeline: 'new', application: 'app' } as const
const FORM_TEXTS: Readonly<Record<ReadForm, string>> = {
  pipeline: '{"new": ...}',
  application: '{"app": ...}',
  raw: 'it is',
  request: 'what is below "input"',
}

/** How a document was asked, in words that go on from `asked as`. */
export function formText(form: ReadForm): string {
  return FORM_TEXTS[form]
}

/**
 * The definitions in a well-formed JSON document: an object is one, an array holds several. Where no form is asked for, a bare definition
 * is wrapped as the orchestrator's save wraps it, `{"new": ...}`; one that is wrapped already, or is below `input` (as JSON or
 * as JSON text), is taken as it is. Raises `invalid` for anything else.
 */
export function readDefinitions(document: Uint8Array, form?: InputForm): Definition[] {
  const start = scanSpace(document, 0)
  if (document[start] !== OPEN_ARRAY) return [readDefinition(document.subarray(start), form)]
  const definitions: Definition[] = []
  scanElements(document, start, (_index, from, end) =>
    definitions.push(readDefinition(document.subarray(from, end), form)),
  )
  if (definitions.length === 0) throw new AppError('invalid', 'the array holds no pipeline definition')
  return definitions
}

/**
 * A document as an input: what `readDefinitions` makes of it where it shows that it is a definition or a request, else as it is. A
 * form that is asked for is taken at its word, whatever the document is.
 */
export function readInputDocument(
  document: Uint8Array,
  form?: InputForm,
): Pick<Definition, 'input' | 'form'> {
  if (form !== undefined) return { input: wrap(document, form), form }
  const isObject = document[scanSpace(document, 0)] === OPEN_OBJECT
  const members = isObject ? membersOf(document) : new Map<string, Uint8Array>()
  const isKnown = members.has('stages') || members.has('input')
  return isKnown ? readDefinition(document) : { input: document, form: 'raw' }
}

function readDefinition(text: Uint8Array, form?: InputForm): Definition {
  const members = membersOf(text)
  const wrapper = members.has('stages') ? undefined : WRAPPERS.find((name) => members.has(name))
  const name = wrapper === undefined ? nameIn(members) : nameBelow(members.get(wrapper))
  if (form !== undefined) return { name, input: wrap(text, form), form }
  const input = members.get('input')
  if (input !== undefined && !members.has('stages')) return readInput(input)
  if (wrapper === undefined && !isDefinition([...members.keys()])) throw noDefinition()
  return wrapper === undefined
    ? { name, input: wrap(text, 'pipeline'), form: 'pipeline' }
    : { name, input: text, form: 'raw' }
}

function isDefinition(members: readonly string[]): boolean {
  return (
    members.some((name) => DEFINITION_MEMBERS.includes(name)) ||
    members.every((name) => LABELS.includes(name))
  )
}

/** Any other JSON would be allowed by policies that look for stages, as if it had been looked at. */
function noDefinition(): AppError {
  return new AppError(
    'invalid',
    `it is no pipeline definition: it has none of ${DEFINITION_MEMBERS.join(', ')}; say how it is asked with --as where it is meant`,
  )
}

function wrap(text: Uint8Array, form: InputForm): Uint8Array {
  if (form === 'raw') return text
  return Buffer.concat([Buffer.from(`{"${WRAPPER_OF[form]}":`), text, Buffer.from('}')])
}

/** What is below `input` in a request: a document, or a document as text. */
function readInput(input: Uint8Array): Definition {
  const value: unknown = JSON.parse(Buffer.from(input).toString())
  const text = typeof value === 'string' ? Buffer.from(value) : input
  refuseMalformed(text)
  const members = membersOf(text)
  const wrapper = WRAPPERS.find((name) => members.has(name))
  return {
    name: wrapper === undefined ? nameIn(members) : nameBelow(members.get(wrapper)),
    input: text,
    form: 'request',
  }
}

/** The texts of the members' values; the last of a repeated key counts. */
function membersOf(text: Uint8Array): Map<string, Uint8Array> {
  const start = scanSpace(text, 0)
  if (text[start] !== OPEN_OBJECT)
    throw new AppError('invalid', 'a pipeline definition must be a JSON object, or an array of them')
  const members = new Map<string, Uint8Array>()
  scanMembers(text, start, (keyStart, valueStart, valueEnd) => {
    const key = Buffer.from(text.subarray(keyStart, valueStart))
      .toString()
      .replace(/\s*:\s*$/, '')
    members.set(String(JSON.parse(key)), text.subarray(valueStart, valueEnd))
  })
  return members
}

function nameIn(members: ReadonlyMap<string, Uint8Array>): string | undefined {
  const text = members.get('name')
  const name: unknown = text === undefined ? undefined : JSON.parse(Buffer.from(text).toString())
  return typeof name === 'string' && name !== '' ? name : undefined
}

function nameBelow(text: Uint8Array | undefined): string | undefined {
  return text?.[0] === OPEN_OBJECT ? nameIn(membersOf(text)) : undefined
}
