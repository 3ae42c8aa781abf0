import { AppError, toError } from '../../errors/app-error.js'
import { scanValue } from '../../lib/json/scan/scan-value.js'
import { readYaml } from '../builtins/yaml/read-yaml.js'
import { UNMETERED_WORK } from '../metering/work-meter.js'
import { parseRegoText } from '../rego/parse-text.js'
import type { RegoValue } from '../rego/value.js'

/** The value in a `data.json` or `data.yaml`, with its numbers as written. Raises `invalid` naming the file. */
export function parseDataFile(file: string, text: string): RegoValue {
  try {
    if (!file.endsWith('.json')) return readYaml(text, UNMETERED_WORK)
    const bytes = Buffer.from(text)
    const end = scanValue(bytes, 0)
    if (bytes.subarray(end).toString().trim() !== '') throw new AppError('invalid', 'text after the document')
    return parseRegoText(text)
  } catch (raw) {
    throw new AppError('invalid', `${file}: ${toError(raw).message}`, { cause: raw })
  }
}
