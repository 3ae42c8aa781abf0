import { OPEN_OBJECT, QUOTE } from '../../lib/json/scan/json-bytes.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { decodeString } from '../../lib/json/scan/decode-string.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'

/** An application and, if known, its pipeline by name and id. */
interface Named {
  readonly application: string | undefined
  readonly pipelines: readonly string[]
}

/**
 * Objects in an input (a pipeline, an execution, an application or a gate), and their members that
 * name the application and the pipeline, in order of preference.
 */
const HOLDERS: readonly (readonly [
  holder: string,
  application: readonly string[],
  pipeline: readonly string[],
])[] = [
  ['new', ['application'], ['name', 'id']],
  ['pipeline', ['application'], ['name', 'id']],
  ['app', ['application', 'name'], []],
  ['gate', ['application'], ['pipeline']],
]
/** In a flat body and in the input of a gate's policy, `name` itself is the pipeline. */
const ROOT_PIPELINE = ['name']

/**
 * What a decision is about, read from its input on demand. An input may name several applications:
 * parts of it are written by users. Then it is about none of them alone.
 */
export class Subject {
  readonly #input: Uint8Array | undefined
  #named: readonly Named[] | undefined

  /** `input` is valid JSON. */
  constructor(input: Uint8Array | undefined) {
    this.#input = input
  }

  /** True if the input names only applications of the list, ignoring case as Spinnaker does. */
  isOnlyAbout(applications: readonly string[]): boolean {
    const named = this.#read()
    return named.length > 0 && named.every((one) => includes(applications, one.application))
  }

  /** True if the input names one of the applications. */
  mentions(applications: readonly string[]): boolean {
    return this.#read().some((one) => includes(applications, one.application))
  }

  /** True if the input names only this pipeline, by name or id. */
  isOnlyAboutPipeline(pipeline: string): boolean {
    const pipelines = this.#read().filter((one) => one.pipelines.length > 0)
    return pipelines.length > 0 && pipelines.every((one) => includes(one.pipelines, pipeline))
  }

  #read(): readonly Named[] {
    this.#named ??= this.#input === undefined ? [] : readNamed(this.#input)
    return this.#named
  }
}

function readNamed(input: Uint8Array): readonly Named[] {
  const members = readMembers(input)
  if (members === undefined) return []
  const root = {
    application: textOf(input, members.get('application')),
    pipelines: texts(input, members, ROOT_PIPELINE),
  }
  const held = HOLDERS.flatMap(([holder, application, pipeline]) => {
    const at = members.get(holder)
    if (at === undefined || input[at.start] !== OPEN_OBJECT) return []
    const own = readMembers(input, at.start) ?? new Map<string, Extent>()
    if (!application.some((name) => own.has(name))) return []
    return [{ application: texts(input, own, application)[0], pipelines: texts(input, own, pipeline) }]
  })
  return members.has('application') ? [root, ...held] : held
}

function texts(input: Uint8Array, members: ReadonlyMap<string, Extent>, names: readonly string[]): string[] {
  return names.flatMap((name) => textOf(input, members.get(name)) ?? [])
}

function textOf(input: Uint8Array, at: Extent | undefined): string | undefined {
  if (at === undefined || input[at.start] !== QUOTE) return undefined
  return Buffer.from(decodeString(input, at.start, at.end)).toString()
}

function includes(names: readonly string[], wanted: string | undefined): boolean {
  return wanted !== undefined && names.some((name) => folded(name) === folded(wanted))
}

/** Spinnaker ignores case and outer blanks in the names of applications and pipelines. */
function folded(name: string): string {
  return name.trim().toLowerCase()
}
