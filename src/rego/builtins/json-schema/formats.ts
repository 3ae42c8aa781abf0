import { ownMember } from '../../../lib/own-member.js'
import ipaddr from 'ipaddr.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { passes } from '../shared/builtin.js'
import { compilePattern } from '../regex/compile.js'

const HOSTNAME =
  /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*$/
const DATE = /^\d{4}-(\d{2})-(\d{2})$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/
const ZONED_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})$/

const FORMATS: Readonly<Record<string, (text: string, meter: WorkMeter) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  'date-time': (text) => text[10] === 'T' && isDate(text.slice(0, 10)) && ZONED_TIME.test(text.slice(11)),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  'idn-email': (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => ipaddr.IPv4.isValidFourPartDecimal(text),
  ipv6: (text) => text.includes(':') && ipaddr.IPv6.isValid(text),
  uri: isUri,
  iri: isUri,
  uuid: (text) => /^[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/i.test(text),
  regex: (text, meter) => passes(() => compilePattern(text, meter)),
  'json-pointer': (text) => text === '' || /^(?:\/(?:[^~/]|~[01])*)+$/.test(text),
}

/** Whether a text has the form that a schema's `format` names; an unknown format takes every text. */
export function hasFormat(format: string, text: string, meter: WorkMeter): boolean {
  const check = ownMember(FORMATS, format)
  return check === undefined || check(text, meter)
}

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  return match !== null && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(match[2])
}

function isUri(text: string): boolean {
  return !text.includes('\\') && URL.canParse(text)
}
