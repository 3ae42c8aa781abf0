import { AppError } from '../../errors/app-error.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { refuseMalformed } from '../../lib/json/scan/locate-value.js'
import { scanElements, scanMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'

/** One pipeline definition, as the policies are asked about it. */
export interface Definition {
  /** Its own name, or undefined where it has none. */
  readonly name: string | undefined
  /** The policy input as JSON text, number texts kept. */
  readonly input: Uint8Array
}

/** The members under which the orchestrator sends what is to be saved. */
const WRAPPERS: readonly string[] = ['new', 'pipeline', 'app']

/**
 * The definitions in a well-formed JSON document: an object is one, an array holds several. A bare definition is wrapped
 * as the orchestrator's save wraps it, `{"new": …}`; one that is wrapped already, or is below `input` (as JSON or
 * as JSON text), is taken as it is. Raises `invalid` for anything else.
 */
export function readDefinitions(document: Uint8Array): Definition[] {
  const start = scanSpace(document, 0)
  if (document[start] !== OPEN_ARRAY) return [readDefinition(document.subarray(start))]
  const definitions: Definition[] = []
  scanElements(document, start, (_index, from, end) =>
    definitions.push(readDefinition(document.subarray(from, end))),
  )
  if (definitions.length === 0) throw new AppError('invalid', 'the array holds no pipeline definition')
  return definitions
}

function readDefinition(text: Uint8Array): Definition {
  const members = membersOf(text)
  const input = members.get('input')
  if (input !== undefined && !members.has('stages')) return readInput(input)
  const wrapper = WRAPPERS.find((name) => members.has(name))
  if (wrapper === undefined || members.has('stages')) {
    const wrapped = Buffer.concat([Buffer.from('{"new":'), text, Buffer.from('}')])
    return { name: nameIn(members), input: wrapped }
  }
  return { name: nameBelow(members.get(wrapper)), input: text }
}

/** What is below `input` in a request: a document, or a document as text. */
function readInput(input: Uint8Array): Definition {
  const value: unknown = JSON.parse(Buffer.from(input).toString())
  const text = typeof value === 'string' ? Buffer.from(value) : input
  refuseMalformed(text)
  const members = membersOf(text)
  const wrapper = WRAPPERS.find((name) => members.has(name))
  return { name: wrapper === undefined ? nameIn(members) : nameBelow(members.get(wrapper)), input: text }
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
