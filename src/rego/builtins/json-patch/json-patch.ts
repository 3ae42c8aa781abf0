import { RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { lengthOf } from '../shared/call-costs.js'
import { insertAt, removeAt, valueAt } from './edit-document.js'
import { arrayOperand, isArray, operand } from '../shared/operands.js'
import { equalValues } from '../../values/value.js'

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
