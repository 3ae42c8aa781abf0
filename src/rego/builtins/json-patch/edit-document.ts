import type { WorkMeter } from '../../metering/work-meter.js'
import { lengthOf } from '../shared/call-costs.js'
import { equalValues, RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { isArray } from '../shared/operands.js'

/** Steps of finding a key, of a member of a container that is copied, and of each character of one of a set. */
const KEY_STEPS = 10
const MEMBER_STEPS = 90
const MEMBER_CHARACTER_STEPS = 2

type Path = readonly RegoValue[]
/** A document after an edit; none is left when its root was removed. */
interface Edited {
  readonly document: RegoValue | undefined
}
/** What an edit makes of the container at the end of its path, or undefined when the key does not suit it. */
type EditContainer = (container: RegoValue, key: RegoValue) => RegoValue | undefined

/** The value at a path: object keys, array indexes, or members of a set as they are. */
export function valueAt(
  document: RegoValue | undefined,
  path: Path,
  meter: WorkMeter,
): RegoValue | undefined {
  let value = document
  for (const key of path) {
    meter.spend(keySteps(key))
    if (value === undefined) return undefined
    value = childOf(value, key)
  }
  return value
}

/** Puts a value at a path: a new or overwritten key, a place in an array (`-` is its end), a set's member named by itself. */
export function insertAt(
  document: RegoValue | undefined,
  path: Path,
  value: RegoValue,
  meter: WorkMeter,
): Edited | undefined {
  if (path.length === 0) return { document: value }
  return edit(document, path, meter, (container, key) => {
    if (container instanceof RegoObject) return new RegoObject([...container.entries, [key, value]])
    if (container instanceof RegoSet) {
      return equalValues(key, value) ? new RegoSet([...container.members, value]) : undefined
    }
    if (!isArray(container)) return undefined
    const index = indexFor(container, key)
    return index === undefined ? undefined : container.toSpliced(index, 0, value)
  })
}

/** Takes out the value at a path; undefined when nothing does. */
export function removeAt(document: RegoValue | undefined, path: Path, meter: WorkMeter): Edited | undefined {
  if (document === undefined) return undefined
  if (path.length === 0) return { document: undefined }
  return edit(document, path, meter, (container, key) => {
    if (childOf(container, key) === undefined) return undefined
    if (container instanceof RegoObject) {
      return new RegoObject(container.entries.filter(([other]) => !equalValues(other, key)))
    }
    if (container instanceof RegoSet) {
      return new RegoSet(container.members.filter((member) => !equalValues(member, key)))
    }
    if (!isArray(container)) return undefined
    const index = indexFor(container, key)
    return index === undefined ? undefined : container.toSpliced(index, 1)
  })
}

function edit(
  document: RegoValue | undefined,
  path: Path,
  meter: WorkMeter,
  change: EditContainer,
): Edited | undefined {
  if (document === undefined) return undefined
  const edited = editBelow(document, path, meter, change)
  return edited === undefined ? undefined : { document: edited }
}

function editBelow(
  container: RegoValue,
  path: Path,
  meter: WorkMeter,
  change: EditContainer,
): RegoValue | undefined {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  payForCopy(container, meter)
  meter.spend(keySteps(key) + rest.length)
  if (rest.length === 0) return change(container, key)
  const child = childOf(container, key)
  const edited = child === undefined ? undefined : editBelow(child, rest, meter, change)
  return edited === undefined ? undefined : replaceChild(container, key, edited)
}

/** Every container on the way is made again, its members put in order again: of a set, with all that they hold. */
function payForCopy(container: RegoValue, meter: WorkMeter): void {
  if (isArray(container)) meter.spend(container.length)
  else if (container instanceof RegoObject) {
    for (const [key] of container.entries) meter.spend(MEMBER_STEPS + lengthOf(key))
  } else if (container instanceof RegoSet) {
    for (const member of container.members)
      meter.spend(MEMBER_STEPS + lengthOf(member) * MEMBER_CHARACTER_STEPS)
  }
}

function keySteps(key: RegoValue): number {
  return KEY_STEPS + lengthOf(key)
}

function childOf(container: RegoValue, key: RegoValue): RegoValue | undefined {
  if (container instanceof RegoObject) return container.get(key)
  if (container instanceof RegoSet) return container.has(key) ? key : undefined
  if (!isArray(container)) return undefined
  const index = indexFor(container, key)
  return index === undefined ? undefined : container[index]
}

function replaceChild(container: RegoValue, key: RegoValue, child: RegoValue): RegoValue | undefined {
  if (container instanceof RegoObject) return new RegoObject([...container.entries, [key, child]])
  if (container instanceof RegoSet) {
    return new RegoSet([...container.members.filter((member) => !equalValues(member, key)), child])
  }
  if (!isArray(container)) return undefined
  const index = indexFor(container, key)
  return index === undefined ? undefined : container.with(index, child)
}

/** An index from 0 to the length: `-`, a number without a point, or its digits without leading zeros. */
function indexFor(array: RegoArray, key: RegoValue): number | undefined {
  if (key === '-') return array.length
  const text = key instanceof RegoNumber ? key.text : key
  if (typeof text !== 'string' || !/^(?:\+?\d+|-0+)$/.test(text)) return undefined
  if (text !== '0' && text.startsWith('0')) return undefined
  const index = Math.abs(Number(text))
  return index <= array.length ? index : undefined
}
