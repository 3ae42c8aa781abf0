import { statedLevel } from '../topics/stated-level.js'

/** What containers write before each line: the runtime interface of Kubernetes, and Docker Compose; and PHP's pools, which warn of all that they are told. */
const CONTAINER =
  /^(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] |[\w.-]{1,60} +\| |\[[\w :.-]{1,40}\] WARNING: \[pool [^\]]{1,60}\] child \d+ said into std(?:err|out): "(?:NOTICE: PHP message: )?)/
/** The name of a container, padded. */
const LONGEST_CONTAINER = 120
/** Longer prefixes are messages. */
const LONGEST_HEADER = 200

/** A line without what a container wrote before it. */
export function withoutContainer(line: string): string {
  // Looking back from where such a prefix ends at the latest spares reading all of a long line.
  if (line.lastIndexOf('| ', LONGEST_CONTAINER) < 0 && line.lastIndexOf(' std', LONGEST_CONTAINER) < 0)
    return line
  const prefix = CONTAINER.exec(line)?.[0]
  return prefix === undefined ? line : line.slice(prefix.length)
}

/**
 * The object in JSON that a line ends with, behind the header of another writer, as syslog puts it; undefined where there is none, or where the
 * line states a level before it: then the object belongs to a message.
 */
export function recordBehindHeader(line: string): string | undefined {
  if (!line.endsWith('}')) return undefined
  const at = line.indexOf('{"')
  if (at <= 0 || at > LONGEST_HEADER || statedLevel(line.slice(0, at).replace(/^<\d+>/, '')) !== undefined)
    return undefined
  return line.slice(at)
}
