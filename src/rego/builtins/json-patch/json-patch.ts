import type { WorkMeter } from '../../metering/work-meter.js'
import { equalValues, RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { lengthOf } from '../shared/call-costs.js'
import { arrayOperand, isArray, operand } from '../shared/operands.js'

/** Steps and bytes of a value that is put into the document. */
const VALUE_STEPS = 4
const VALUE_BYTES = 16

type Path = readonly RegoValue[]

/** RFC 6902 over Rego values: the patched document. Raises BuiltinError when any operation fails, as OPA does since 1.0. */
const patch: Builtin = (args, { meter }) => {
  const operations = arrayOperand(args, 1)
  // Undefined stands for the document that a removal of the root leaves.
  let document: RegoValue | undefined = operand(args, 0)
  for (const operation of operations) {
    const step: Step | undefined =
      operation instanceof RegoObject ? apply(document, operation, meter) : undefined
    if (step === undefined) throw new BuiltinError('the patch cannot be applied to this document')
    document = step.document
  }
  return document
}

interface Step {
  readonly document: RegoValue | undefined
}

function apply(document: RegoValue | undefined, operation: RegoObject, meter: WorkMeter): Step | undefined {
  const path = pathOf(operation, 'path')
  if (path === undefined) return undefined
  switch (operation.get('op')) {
    case 'add':
      return insert(document, path, operation.get('value'), meter)
    case 'remove':
      return removeAt(document, path, meter)
    case 'replace':
      return move(document, path, path, operation.get('value'), meter)
    case 'move': {
      const from = pathOf(operation, 'from')
      return from && move(document, from, path, valueAt(document, from, meter), meter)
    }
    case 'copy': {
      const from = pathOf(operation, 'from')
      return from && insert(document, path, valueAt(document, from, meter), meter)
    }
    case 'test':
      return test(document, path, operation.get('value'), meter)
    default:
      return undefined
  }
}

/** What is put in is paid for whole, wherever it comes from: copies of copies grow without end. */
function insert(
  document: RegoValue | undefined,
  path: Path,
  value: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  if (value === undefined) return undefined
  payForValue(value, meter)
  return insertAt(document, path, value, meter)
}

function payForValue(value: RegoValue, meter: WorkMeter): void {
  meter.spend(VALUE_STEPS)
  meter.reserve(VALUE_BYTES + (typeof value === 'string' ? value.length : 0))
  if (isArray(value)) for (const member of value) payForValue(member, meter)
  else if (value instanceof RegoSet) for (const member of value.members) payForValue(member, meter)
  else if (value instanceof RegoObject) {
    for (const [key, member] of value.entries) {
      payForValue(key, meter)
      payForValue(member, meter)
    }
  }
}

/** Takes out the value at `from` and puts `value` at `to`. */
function move(
  document: RegoValue | undefined,
  from: Path,
  to: Path,
  value: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  const removed = value === undefined ? undefined : removeAt(document, from, meter)
  return removed && insert(removed.document, to, value, meter)
}

function test(
  document: RegoValue | undefined,
  path: Path,
  wanted: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  const value = valueAt(document, path, meter)
  if (wanted !== undefined) meter.spend(lengthOf(wanted))
  const isEqual = value !== undefined && wanted !== undefined && equalValues(value, wanted)
  return isEqual ? { document } : undefined
}

/** A JSON pointer (the leading `/` may be left out) or an array of keys. */
function pathOf(operation: RegoObject, name: 'path' | 'from'): Path | undefined {
  const path = operation.get(name)
  if (path === undefined) return undefined
  if (isArray(path)) return path
  if (typeof path !== 'string') return undefined
  if (path === '') return []
  const steps = path.replace(/^\/+/, '').split('/')
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export const jsonPatchBuiltins: BuiltinTable = { 'json.patch': patch }

/** Steps of finding a key, of a member of a container that is copied, and of each character of one of a set. */
const KEY_STEPS = 10
const MEMBER_STEPS = 90
const MEMBER_CHARACTER_STEPS = 2

/** A document after an edit; none is left when its root was removed. */
interface Edited {
  readonly document: RegoValue | undefined
}
/** What an edit makes of the container at the end of its path, or undefined when the key does not suit it. */
type EditContainer = (container: RegoValue, key: RegoValue) => RegoValue | undefined

/** The value at a path: object keys, array indexes, or members of a set as they are. */
function valueAt(document: RegoValue | undefined, path: Path, meter: WorkMeter): RegoValue | undefined {
  let value = document
  for (const key of path) {
    meter.spend(keySteps(key))
    if (value === undefined) return undefined
    value = childOf(value, key)
  }
  return value
}

/** Puts a value at a path: a new or overwritten key, a place in an array (`-` is its end), a set's member named by itself. */
function insertAt(
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
function removeAt(document: RegoValue | undefined, path: Path, meter: WorkMeter): Edited | undefined {
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
