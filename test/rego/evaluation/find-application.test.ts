import { expect, test } from 'vitest'

import { findApplication } from '../../../src/rego/evaluation/find-application.js'

const SEARCHED_BYTES = 8192

test.each([
  ['{"application":"shop"}', 'shop'],
  ['{"new":{"application" : "shop"},"other":"x"}', 'shop'],
  ['{"app":{"a":1,"application":"sh\\"op\\u0041","b":"c"}}', 'sh"opA'],
  ['{"application":"ends in a backslash\\\\","b":"c"}', 'ends in a backslash\\'],
  ['{"application":""}', ''],
  ['{"text":"\\"application\\":\\"no\\"","application":"shop"}', 'shop'],
  ['{"application":{"name":"x"},"new":{"application":"shop"}}', 'shop'],
  ['{"a":{"b":{"application":"too deep"}}}', undefined],
  ['{"applications":"shop"}', undefined],
  ['"application"', undefined],
  [`{"pad":"${'x'.repeat(SEARCHED_BYTES)}","application":"too far"}`, undefined],
  [`{"application":"${'x'.repeat(SEARCHED_BYTES)}"}`, undefined],
])('the input %s is about %j', (input, application) => {
  expect(findApplication(Buffer.from(input))).toBe(application)
})
