import { ownMember } from '../../../lib/own-member.js'
import { CRASH_TOPICS, DEFAULT_TOPICS, SEVERITIES } from './default-topics.js'
import { statedLevel } from './stated-level.js'
import type { StatedLevel } from './level-words.js'
import type { Topic } from './default-topics.js'

/**
 * Strings that are levels rather than names of failures. A level stated by the line takes
 * precedence over words within it: `INFO error page rendered` is not an error.
 */
const LEVEL_TEXTS: Readonly<Record<string, StatedLevel>> = {
  fatal: 'fatal',
  severe: 'severe',
  error: 'error',
  warn: 'warn',
}
/** Part of the name of every exception, so it means little in a line with a lower level. */
const EXCEPTION = 'exception'
const NAME_OF_FAILURE = /(?:error|exception|bounds)$|^status=\d/
const CRASHES: ReadonlySet<string> = new Set(CRASH_TOPICS.map(({ string }) => string.toLowerCase()))
/** Most lines have none of these words, which avoids the longer search. */
const COMPLAINT = /error|warning|exception|fatal|severe/
/** `0 errors`, `error=null` and `onError` complain of nothing. */
const NOTHING_WRONG =
  /\b(?:no|0|zero|without|any) (?:errors?|warnings?|exceptions?)\b|\b(?:errors?|warnings?|exceptions?|fatal|severe)"?\s?[=:]\s?(?:0|null|none|nil|false|no|"")(?![\w.])|\b(?:on|is|has|set|get|clear)_?errors?\b/g

/** Finds the topic of an event. Undefined for an ordinary event. */
export type FindTopic = (text: string) => Topic | undefined

interface Needle {
  readonly text: string
  readonly topic: Topic
  readonly level: StatedLevel | undefined
  readonly endsWithDigit: boolean
  /** Whether it is the default name of a failure: a line with a lower level only mentions it. */
  readonly isName: boolean
}

/** The template's topics and the default topics with other strings. */
export function joinTopics(own: readonly Topic[], withoutDefaults: boolean): readonly Topic[] {
  const marked = own.map((topic) => (isDefault(topic) ? topic : { ...topic, isOwn: true }))
  if (withoutDefaults) return marked
  const replaced = new Set(own.map(({ string }) => string.toLowerCase()))
  return [
    ...[...DEFAULT_TOPICS, ...CRASH_TOPICS].filter(({ string }) => !replaced.has(string.toLowerCase())),
    ...marked,
  ]
}

/** Clients send the default topics together with the template's own. */
function isDefault({ string, severity }: Topic): boolean {
  return DEFAULT_TOPICS.some(
    (topic) => topic.severity === severity && topic.string.toLowerCase() === string.toLowerCase(),
  )
}

/**
 * Finds the topic of an event by its text, in any case. The longest string decides, since
 * `EXCEPTION` is part of the name of every exception; of equally long strings, the more severe one.
 */
export function topicFinder(topics: readonly Topic[]): FindTopic {
  const needles = topics
    .toSorted((a, b) => b.string.length - a.string.length || rank(a) - rank(b))
    .map(toNeedle)
  const any = new RegExp(needles.map(({ text }) => text.replace(/[^\w\s]/g, '\\$&')).join('|') || '(?!)')
  return (text) => {
    const stated = statedLevel(text)
    const searched = text.toLowerCase()
    // Most lines contain none of the strings, which one search shows. A line with a stated level
    // has a topic without a string.
    if ((stated === undefined || stated === 'quiet') && !any.test(searched)) return undefined
    const complaint = COMPLAINT.test(searched) ? searched.replaceAll(NOTHING_WRONG, '') : searched
    return needles.find((needle) => matches(needle, stated, isWord(needle) ? complaint : searched))?.topic
  }
}

function toNeedle(topic: Topic): Needle {
  const text = topic.string.toLowerCase()
  const level = ownMember(LEVEL_TEXTS, text)
  const isName =
    level === undefined && topic.isOwn !== true && (NAME_OF_FAILURE.test(text) || CRASHES.has(text))
  return { text, topic, level, endsWithDigit: /\d$/.test(text), isName }
}

function isWord({ text, level }: Needle): boolean {
  return level !== undefined || text === EXCEPTION
}

function matches(needle: Needle, stated: StatedLevel | undefined, searched: string): boolean {
  const { text, level, endsWithDigit, isName } = needle
  if (stated !== undefined && level !== undefined) return stated === level
  if ((text === EXCEPTION || isName) && (stated === 'quiet' || stated === 'warn')) return false
  const at = searched.indexOf(text)
  // `status=500` is not part of `status=5003`.
  return at >= 0 && !(endsWithDigit && /\d/.test(searched.charAt(at + text.length)))
}

function rank({ severity }: Topic): number {
  return SEVERITIES.indexOf(severity)
}
