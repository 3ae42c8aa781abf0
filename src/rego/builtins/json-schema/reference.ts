import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/** The address of a schema without an `$id`. URLs are resolved against it; nothing is fetched. */
const NO_ADDRESS = 'schema://none/'
/** Cost in evaluation steps per object of a schema. */
const VISIT_STEPS = 50
/** Keywords whose members are values, not schemas. */
const LITERAL: readonly string[] = ['const', 'enum']
/** Keywords whose members are schemas by arbitrary names. */
const NAMED: readonly string[] = ['properties', 'dependencies', 'patternProperties']

/**
 * Resolves the `$ref`s of a schema: pointers to its parts (`#/definitions/a`) and nested schemas by
 * their `$id`. Other documents are not fetched.
 */
export class SchemaReferences {
  /** Schemas by address. */
  readonly #schemas = new Map<string, RegoObject>()
  /** The base address of relative references in each schema. */
  readonly #bases = new Map<RegoObject, string>()
  readonly #meter: WorkMeter

  constructor(root: RegoObject, meter: WorkMeter) {
    this.#meter = meter
    this.#schemas.set(NO_ADDRESS, root)
    this.#visit(root, NO_ADDRESS)
  }

  /** Returns the target of a `$ref`. Throws BuiltinError if it is missing or external. */
  resolve(schema: RegoObject, reference: string): RegoValue {
    const address = resolveUrl(reference, this.#bases.get(schema) ?? NO_ADDRESS)
    const named = this.#schemas.get(address)
    if (named !== undefined) return named
    const at = address.indexOf('#')
    const document = this.#schemas.get(at === -1 ? address : address.slice(0, at))
    if (document === undefined)
      throw new BuiltinError(`reference to another document is not allowed: ${reference}`)
    let value: RegoValue = document
    for (const segment of at === -1
      ? []
      : address
          .slice(at + 1)
          .split('/')
          .slice(1))
      value = resolveSegment(value, decodeSegment(segment))
    return value
  }

  #visit(value: RegoValue, above: string): void {
    if (isArray(value)) for (const item of value) this.#visit(item, above)
    if (!(value instanceof RegoObject)) return
    this.#meter.spend(VISIT_STEPS)
    const base = this.#register(value, above)
    for (const [key, member] of value.entries) {
      if (typeof key === 'string' && LITERAL.includes(key)) continue
      if (typeof key === 'string' && NAMED.includes(key) && member instanceof RegoObject)
        for (const [, named] of member.entries) this.#visit(named, base)
      else this.#visit(member, base)
    }
  }

  /** Registers and returns the address of a schema. Throws BuiltinError for a duplicate. */
  #register(schema: RegoObject, above: string): string {
    const id = schema.get('$id') ?? schema.get('id')
    const base = typeof id === 'string' ? withoutEmptyFragment(resolveUrl(id, above)) : above
    this.#bases.set(schema, base)
    if (typeof id !== 'string') return base
    const known = this.#schemas.get(base)
    if (known !== undefined && known !== schema) throw new BuiltinError(`Reference already exists: "${id}"`)
    this.#schemas.set(base, schema)
    return base
  }
}

function resolveUrl(reference: string, base: string): string {
  return withoutEmptyFragment(URL.parse(reference, base)?.href ?? reference)
}

function withoutEmptyFragment(url: string): string {
  return url.endsWith('#') ? url.slice(0, -1) : url
}

/** Returns the target of one segment of a JSON pointer. Throws BuiltinError if it is missing. */
function resolveSegment(value: RegoValue, key: string): RegoValue {
  if (isArray(value))
    return value[Number(key)] ?? fail(`Out of bound array[0,${value.length}] index '${key}'`)
  if (!(value instanceof RegoObject)) return fail(`Invalid token reference '${key}'`)
  return value.get(key) ?? fail(`Object has no key '${key}'`)
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return fail(`invalid reference: ${segment}`)
  }
}

function fail(problem: string): never {
  throw new BuiltinError(problem)
}
