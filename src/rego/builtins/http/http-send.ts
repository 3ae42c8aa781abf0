import { readJsonDocument } from '../encoding/json-document.js'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { isArray, stringOperand } from '../shared/operands.js'
import { externalResult } from '../shared/memoise.js'
import type { RecordedCall } from '../shared/recorded-calls.js'
import { readYaml } from '../yaml/read-yaml.js'
import { booleanParameter } from './http-caching.js'
import { identityOf, raisesErrors, readParameters, readRequest } from './http-request.js'

/** Steps per character of a response that is parsed as JSON. YAML charges for itself. */
const STEPS_PER_CHARACTER = 3

/** HTTP requests are sent outside of the evaluation: it ends, and is repeated with the response. */
export const HTTP_SEND = 'http.send'
export const LOOKUP = 'net.lookup_ip_addr'

const sendRequest: Builtin = (args, context) => {
  const [operand] = args
  const raises = operand instanceof RegoObject ? raisesErrors(operand) : true
  try {
    const parameters = readParameters(args)
    readRequest(parameters)
    const decoding = decodingOf(parameters)
    const result = externalResult(HTTP_SEND, [parameters], context, [identityOf(parameters)])
    if ('value' in result) return withBody(result.value, decoding, context.meter)
    if (raises) throw new BuiltinError(result.failure.message)
    return failedResponse(result.failure.cause, result.failure.message)
  } catch (raw) {
    if (raises || !(raw instanceof BuiltinError)) throw raw
    return failedResponse('internal', `${raw.code}: ${HTTP_SEND}: ${raw.message}`)
  }
}

const lookUp: Builtin = (args, context) => {
  const result = externalResult(LOOKUP, [stringOperand(args, 0)], context)
  if ('failure' in result) throw new BuiltinError(result.failure.message)
  return result.value
}

/** The built-ins that send requests. */
export const httpBuiltins: BuiltinTable = { [HTTP_SEND]: sendRequest, [LOOKUP]: lookUp }

type Decoding = 'json' | 'yaml' | 'by type'

function decodingOf(parameters: RegoObject): Decoding {
  const isYaml = booleanParameter(parameters, 'force_yaml_decode')
  if (booleanParameter(parameters, 'force_json_decode')) return 'json'
  return isYaml ? 'yaml' : 'by type'
}

/** Returns the result of a `http.send` call; undefined if it raised an error. */
export function replyOf({ args, result }: RecordedCall, meter: WorkMeter): RegoValue | undefined {
  const parameters = readParameters(args)
  if ('value' in result) return withBody(result.value, decodingOf(parameters), meter)
  const { cause, message } = result.failure
  return raisesErrors(parameters) ? undefined : failedResponse(cause, message)
}

function withBody(recorded: RegoValue, decoding: Decoding, meter: WorkMeter): RegoValue {
  if (!(recorded instanceof RegoObject)) return recorded
  const text = textOr(recorded.get('raw_body'))
  const type = contentType(recorded)
  const isJson =
    decoding === 'json' || (decoding === 'by type' && /^application\/(?:[^/]*\+)?json$/.test(mediaType(type)))
  const isYaml = decoding === 'yaml' || (decoding === 'by type' && /application\/(?:x-)?yaml/.test(type))
  const body = isJson ? readJson(text, meter) : isYaml ? orNull(() => readYaml(text, meter)) : null
  return new RegoObject([...recorded.entries, ['body', body]])
}

function readJson(text: string, meter: WorkMeter): RegoValue {
  meter.spend(text.length * STEPS_PER_CHARACTER)
  return orNull(() => readJsonDocument(Buffer.from(text), 'decoder'))
}

function orNull(read: () => RegoValue): RegoValue {
  try {
    return read()
  } catch (raw) {
    if (raw instanceof BuiltinError) return null
    throw raw
  }
}

function contentType(recorded: RegoObject): string {
  const headers = recorded.get('headers')
  const values = headers instanceof RegoObject ? headers.get('content-type') : undefined
  return values !== undefined && isArray(values) ? textOr(values[0]) : ''
}

function textOr(value: RegoValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function mediaType(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase()
}

function failedResponse(cause: 'network' | 'internal', message: string): RegoValue {
  return RegoObject.fromRecord({
    status_code: RegoNumber.of(0),
    error: RegoObject.fromRecord({ code: `eval_http_send_${cause}_error`, message }),
  })
}
