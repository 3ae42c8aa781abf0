import { AppError } from '../../errors/app-error.js'
import { printMembers } from '../../lib/json/edit/merge-json.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { refuseMalformed } from '../../lib/json/scan/locate-value.js'
import { scanElements, scanMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'

/** Forms of an input: wrapped as a pipeline, an application or for Armory, or verbatim. */
export const INPUT_FORMS = ['pipeline', 'application', 'armory', 'raw'] as const
export type InputForm = (typeof INPUT_FORMS)[number]

/** The form that was used. `request` means the document's own `input`. */
export type ReadForm = InputForm | 'request'

/** A definition as policy input. */
export interface Definition {
  /** Undefined if it has none. */
  readonly name: string | undefined
  /** JSON. Numbers keep their digits. */
  readonly input: Uint8Array
  readonly form: ReadForm
}

/** A definition has at least one of these. One from a template may have no stages. */
const DEFINITION_MEMBERS = ['stages', 'template', 'config', 'triggers', 'application']
/** The only members of a new definition. */
const LABELS = ['id', 'name', 'description']
/** Members with the definition in the orchestrator's requests. */
const WRAPPERS: readonly string[] = ['new', 'pipeline', 'app']
const WRAPPER_OF = { pipeline: 'new', application: 'app', armory: 'pipeline' } as const
const FORM_TEXTS: Readonly<Record<ReadForm, string>> = {
  pipeline: '{"new": ...}',
  application: '{"app": ...}',
  armory: '{"pipeline": ...}',
  raw: 'it is',
  request: 'the contents of "input"',
}

/** Returns a form as shown after `evaluated as`. */
export function formText(form: ReadForm): string {
  return FORM_TEXTS[form]
}

/** Members of a dinghyfile, which lists several pipelines of an application. */
const [LIST, LIST_APPLICATION] = ['pipelines', 'application']

/**
 * Returns the definitions in a JSON document: one in an object, several in an array or in the
 * member `pipelines` of a dinghyfile, whose `application` is that of pipelines without one. Without a
 * given form, a plain definition is wrapped like the orchestrator's save request, `{"new": ...}`. A
 * wrapped one, or one in `input` (JSON or a JSON string), is used verbatim. Raises `invalid` for
 * anything else.
 */
export function readDefinitions(document: Uint8Array, form?: InputForm): Definition[] {
  const start = scanSpace(document, 0)
  if (document[start] === OPEN_ARRAY) return readList(document, start, (text) => readDefinition(text, form))
  const text = document.subarray(start)
  const members = form === 'raw' || form === 'application' ? undefined : membersOf(text)
  const list = members?.get(LIST)
  const application = members?.get(LIST_APPLICATION)
  const isList = list?.[0] === OPEN_ARRAY && members?.has('stages') === false
  if (!isList || application === undefined) return [readDefinition(text, form)]
  return readList(list, 0, (own) => readDefinition(withApplication(own, application), form))
}

function readList(text: Uint8Array, start: number, read: (element: Uint8Array) => Definition): Definition[] {
  const definitions: Definition[] = []
  scanElements(text, start, (_index, from, end) => definitions.push(read(text.subarray(from, end))))
  if (definitions.length === 0) throw new AppError('invalid', 'the array contains no pipeline definition')
  return definitions
}

/** Returns a definition with an application if it has none. */
function withApplication(text: Uint8Array, application: Uint8Array): Uint8Array {
  const members = membersOf(text)
  return members.has(LIST_APPLICATION) ? text : printMembers(members.set(LIST_APPLICATION, application))
}

/**
 * Returns a document as input: like `readDefinitions` if it looks like a definition or request,
 * otherwise verbatim. A given form always applies.
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

/** Without this error, policies that look for stages would allow any other JSON. */
function noDefinition(): AppError {
  return new AppError(
    'invalid',
    `not a pipeline definition: it has none of ${DEFINITION_MEMBERS.join(', ')}. Use --as if it is one.`,
  )
}

function wrap(text: Uint8Array, form: InputForm): Uint8Array {
  if (form === 'raw') return text
  return Buffer.concat([Buffer.from(`{"${WRAPPER_OF[form]}":`), text, Buffer.from('}')])
}

/** Parses the `input` of a request, which is a document or a JSON string. */
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

/** Returns the members' JSON by name. The last of repeated keys counts. */
function membersOf(text: Uint8Array): Map<string, Uint8Array> {
  const start = scanSpace(text, 0)
  if (text[start] !== OPEN_OBJECT)
    throw new AppError('invalid', 'a pipeline definition must be a JSON object or an array of objects')
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
