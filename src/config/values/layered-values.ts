import { isRecord } from '../../lib/validation/record.js'

/** The origin of a value: `tidegate.yaml:3`, `TIDEGATE_LOG_LEVEL`, `--addr`. */
export type Origin = string

/** The value of one key and its origin. */
export interface OriginatedValue {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: Origin
}

/** Layers of values with their origins. Later values replace earlier ones. */
export class LayeredValues {
  readonly root = emptyRecord()
  readonly #origins = new Map<string, Origin>()

  set({ path, value, origin }: OriginatedValue): void {
    const name = path.at(-1)
    if (name === undefined) return
    this.#parentOf(path)[name] = value
    this.#origins.set(path.join('.'), origin)
  }

  get(path: readonly PropertyKey[]): unknown {
    return path.reduce<unknown>((value, segment) => {
      if (Array.isArray(value)) return (value as unknown[])[Number(segment)]
      return isRecord(value) ? value[String(segment)] : undefined
    }, this.root)
  }

  /**
   * Returns the origin of the value at a path, or of the nearest value above it. Undefined for a
   * default.
   */
  originOf(path: readonly PropertyKey[]): Origin | undefined {
    for (let length = path.length; length > 0; length--) {
      const origin = this.#origins.get(path.slice(0, length).map(String).join('.'))
      if (origin !== undefined) return origin
    }
    return undefined
  }

  /** Returns a copy without the values at some paths. */
  without(paths: readonly (readonly PropertyKey[])[]): Record<string, unknown> {
    const copy = structuredClone(this.root)
    for (const path of paths) {
      const parent = path.slice(0, -1).reduce<unknown>((value, segment) => {
        return isRecord(value) ? value[String(segment)] : undefined
      }, copy)
      if (isRecord(parent)) Reflect.deleteProperty(parent, path.at(-1) ?? '')
    }
    return copy
  }

  #parentOf(path: readonly string[]): Record<string, unknown> {
    return path.slice(0, -1).reduce((parent, segment) => {
      const present = parent[segment]
      if (isRecord(present)) return present
      const made = emptyRecord()
      parent[segment] = made
      return made
    }, this.root)
  }
}

/** Without a prototype, so that `__proto__` is an ordinary unknown key. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}
