import { INSTANCE_SEPARATOR } from '../../sources.js'
import type { EscapeContext } from './filling.js'

/** Outside of strings: nothing that could end the word or begin an operator. */
export const WORD: EscapeContext = {
  allows: 'letters, digits, "_" and ":" (put the placeholder between quotes)',
  escape: (value) => (/^[\w:]+$/.test(value) ? value : undefined),
}

/** In a string with a syntax of its own (a format, a replacement, a path of JSON). */
export const PLAIN_WORD: EscapeContext = {
  allows: 'letters, digits, "_", ":" and "-"',
  escape: (value) => (/^[\w:-]+$/.test(value) ? value : undefined),
}

/** A context that accepts no values of a scope. */
export const NOWHERE: EscapeContext = { allows: 'fixed text of the template', escape: () => undefined }

/** Plain text. */
export const PLAIN: EscapeContext = { allows: 'text', escape: (value) => value }

/** A part of a file's path: one name, without separators. */
export const PATH_NAME: EscapeContext = {
  allows: 'a name without "/", "\\" or control characters that is not "." or ".."',
  escape: (value) => (isPathName(value) ? value : undefined),
}

/** One name in the path of a URL, or one value in its query: no separators. */
export const URL_PART: EscapeContext = {
  allows: 'text that is not "." or ".."',
  escape: (value) => (value === '.' || value === '..' ? undefined : encodeURIComponent(value)),
}

/** A context inside another one, whose values are escaped twice. */
export function within(outer: EscapeContext, inner: EscapeContext): EscapeContext {
  const limits = [inner.allows, outer.allows].filter((allows) => allows !== PLAIN.allows)
  return {
    allows: limits.length === 0 ? PLAIN.allows : limits.join(', and '),
    ...(inner.allowsSeveral === true && { allowsSeveral: true }),
    escape: (value) => {
      const escaped = inner.escape(value)
      return escaped === undefined ? undefined : outer.escape(escaped)
    },
  }
}

/** A regular expression of RE2 or Lucene that matches only the value itself, or one of several. */
export const PATTERN: EscapeContext = {
  allows: 'text',
  allowsSeveral: true,
  // Both accept a backslash before any ASCII punctuation; the C++ RE2 not before "_", which needs
  // none.
  escape: (value) => {
    const values = value.split(INSTANCE_SEPARATOR).map((one) => one.replace(/[!-/:-@[-^`{-~]/g, '\\$&'))
    return values.length === 1 ? values[0] : `(?:${values.join('|')})`
  },
}

/** A pattern of Lucene's `wildcard`. */
export const WILDCARD: EscapeContext = { allows: 'text', escape: (value) => value.replace(/[\\*?]/g, '\\$&') }

/** A string between double quotes, with Go's escapes, as PromQL and LogQL read it. */
export const DOUBLE_QUOTED: EscapeContext = {
  allows: 'text',
  escape: (value) => escapeInString(value, /[\\"]/g),
}

/**
 * A string between single quotes, with Go's escapes. Go refuses a backslash before the quote that
 * needs none.
 */
export const SINGLE_QUOTED: EscapeContext = {
  allows: 'text',
  escape: (value) => escapeInString(value, /[\\']/g),
}

/** A string between backquotes, which knows no escapes. */
export const RAW_QUOTED: EscapeContext = {
  allows: 'text without a backquote',
  escape: (value) => (/[`\r]/.test(value) ? undefined : value),
}

/** A word of Lucene's query syntax. */
export const LUCENE_WORD: EscapeContext = {
  // No escape exists for "<" and ">" (Elasticsearch, query_string, reserved characters).
  allows: 'text without "<", ">" or control characters (or put the placeholder between quotes)',
  escape: (value) => {
    if (/[<>\p{Cc}]/u.test(value)) return undefined
    const escaped = value.replace(/[-+=&|!(){}[\]^"~*?:\\/\s]/g, '\\$&')
    return /^(?:AND|OR|NOT|TO)$/.test(value) ? `\\${escaped}` : escaped
  },
}

/** A phrase of Lucene's query syntax, between quotes. */
export const LUCENE_PHRASE: EscapeContext = {
  allows: 'text',
  escape: (value) => value.replace(/[\\"]/g, '\\$&'),
}

function escapeInString(value: string, special: RegExp): string {
  return value.replace(special, '\\$&').replace(/\p{Cc}/gu, asEscape)
}

function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function isPathName(value: string): boolean {
  return value !== '.' && value !== '..' && !/[/\\\p{Cc}]/u.test(value)
}
