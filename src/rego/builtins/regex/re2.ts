import { createRequire } from 'node:module'
import type * as re2js from 're2js'

type Re2 = typeof re2js

const require = createRequire(import.meta.url)
let library: Re2 | undefined

/** RE2 in JavaScript. It is large, and loaded when it is first asked for: for policies with regular expressions, before they serve. */
export function re2(): Re2 {
  return (library ??= require('re2js') as Re2)
}
