import { describe, expect, it } from 'vitest'
import { netBuiltins } from '../../../../src/rego/builtins/net/net.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'
import type { OutcomeCase } from '../../../support/builtin-outcome.js'

/** Outcomes of OPA 0.70. */
const cases: readonly OutcomeCase[] = [
  ['net.cidr_is_valid', '["192.168.1.0/24"]', 'true'],
  ['net.cidr_is_valid', '["1.2.3.4"]', 'false'],
  ['net.cidr_is_valid', '[""]', 'false'],
  ['net.cidr_is_valid', '["/"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/08"]', 'true'],
  ['net.cidr_is_valid', '["1.2.3.4/0000000000000000008"]', 'true'],
  ['net.cidr_is_valid', '["01.2.3.4/8"]', 'false'],
  ['net.cidr_is_valid', '["::/0"]', 'true'],
  ['net.cidr_is_valid', '["::ffff:1.2.3.4/100"]', 'true'],
  ['net.cidr_is_valid', '["::1%eth0/64"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3/8"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/+8"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/-8"]', 'false'],
  ['net.cidr_is_valid', '[" 1.2.3.4/8"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/8 "]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/8\\n"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/33"]', 'false'],
  ['net.cidr_is_valid', '["::/129"]', 'false'],
  ['net.cidr_is_valid', '["0x1.2.3.4/8"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/255.0.0.0"]', 'false'],
  ['net.cidr_is_valid', '["1.2.3.4/8/8"]', 'false'],
  ['net.cidr_is_valid', '["1:2:3:4:5:6:7::/64"]', 'true'],
  ['net.cidr_is_valid', '["1:2:3:4:5:6:7:8::/64"]', 'false'],
  ['net.cidr_is_valid', '["00001::/64"]', 'false'],
  ['net.cidr_is_valid', '["1:2:3:4:5:6:1.2.3.4/64"]', 'true'],
  ['net.cidr_is_valid', '["::1.2.3.04/64"]', 'false'],
  ['net.cidr_is_valid', '["1::2::3/64"]', 'false'],
  ['net.cidr_is_valid', '["[::1]/64"]', 'false'],
  ['net.cidr_is_valid', '["１.2.3.4/8"]', 'false'],
  ['net.cidr_is_valid', '[1]', 'false'],
  ['net.cidr_expand', '["192.168.1.1/30"]', '{"192.168.1.0","192.168.1.1","192.168.1.2","192.168.1.3"}'],
  ['net.cidr_expand', '["10.0.0.255/30"]', '{"10.0.0.252","10.0.0.253","10.0.0.254","10.0.0.255"}'],
  [
    'net.cidr_expand',
    '["255.255.255.252/30"]',
    '{"255.255.255.252","255.255.255.253","255.255.255.254","255.255.255.255"}',
  ],
  ['net.cidr_expand', '["255.255.255.255/32"]', '{"255.255.255.255"}'],
  ['net.cidr_expand', '["0.0.0.0/31"]', '{"0.0.0.0","0.0.0.1"}'],
  ['net.cidr_expand', '["::ffff:1.2.3.4/127"]', '{"1.2.3.4","1.2.3.5"}'],
  ['net.cidr_expand', '["2001:DB8::/126"]', '{"2001:db8::","2001:db8::1","2001:db8::2","2001:db8::3"}'],
  ['net.cidr_expand', '["::1.2.3.4/127"]', '{"::102:304","::102:305"}'],
  ['net.cidr_expand', '["0:0:1:0:0:0:1:0/128"]', '{"0:0:1::1:0"}'],
  ['net.cidr_expand', '["1:0:1:1:1:1:1:1/128"]', '{"1:0:1:1:1:1:1:1"}'],
  ['net.cidr_expand', '["1:0:0:2:0:0:1:1/128"]', '{"1::2:0:0:1:1"}'],
  ['net.cidr_expand', '["::/127"]', '{"::","::1"}'],
  ['net.cidr_is_valid', '["::/96"]', 'true'],
  ['net.cidr_expand', '["::ffff:0:1/128"]', '{"0.0.0.1"}'],
  [
    'net.cidr_expand',
    '["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/127"]',
    '{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe","ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}',
  ],
  ['net.cidr_expand', '["foo"]', 'eval_builtin_error: invalid CIDR address: foo'],
  ['net.cidr_expand', '["192.168.1.1/33"]', 'eval_builtin_error: invalid CIDR address: 192.168.1.1/33'],
  ['net.cidr_expand', '[1]', 'eval_type_error: operand 1 must be string but got number'],
  ['net.cidr_merge', '[[]]', 'set()'],
  ['net.cidr_merge', '[set()]', 'set()'],
  ['net.cidr_merge', '["x"]', 'eval_builtin_error: operand must be an array'],
  ['net.cidr_merge', '[1]', 'eval_builtin_error: operand must be an array'],
  ['net.cidr_merge', '[[1]]', 'eval_builtin_error: element must be string'],
  ['net.cidr_merge', '[["foo"]]', 'eval_builtin_error: invalid CIDR address: foo'],
  ['net.cidr_merge', '[["1.2.3.0/33"]]', 'eval_builtin_error: invalid CIDR address: 1.2.3.0/33'],
  [
    'net.cidr_merge',
    '[["2601:600:8a80:207e:a57d:7567:e2c9:e7b3"]]',
    'eval_builtin_error: IPv6 invalid: needs prefix length',
  ],
  [
    'net.cidr_merge',
    '[["2601:600:8a80:207e:a57d:7567:e2c9:e7b3/128"]]',
    '{"2601:600:8a80:207e:a57d:7567:e2c9:e7b3/128"}',
  ],
  ['net.cidr_merge', '[["10.1.2.3"]]', '{"10.1.2.3/8"}'],
  ['net.cidr_merge', '[["172.16.5.9"]]', '{"172.16.5.9/16"}'],
  ['net.cidr_merge', '[["192.168.5.9"]]', '{"192.168.5.9/24"}'],
  ['net.cidr_merge', '[["224.1.2.3"]]', '{"224.1.2.3/24"}'],
  ['net.cidr_merge', '[["250.1.2.3","1.0.0.0/8"]]', '{"1.0.0.0/8","250.1.2.3/24"}'],
  ['net.cidr_merge', '[["192.168.5.9","192.168.4.9"]]', '{"192.168.4.0/23"}'],
  ['net.cidr_merge', '[["192.168.5.9","192.168.5.0/24"]]', '{"192.168.5.0/24"}'],
  ['net.cidr_merge', '[["192.168.5.9/24"]]', '{"192.168.5.0/24"}'],
  ['net.cidr_merge', '[["::ffff:1.2.3.4"]]', '{"1.2.3.4/8"}'],
  ['net.cidr_merge', '[["::ffff:1.2.3.4/120"]]', '{"1.2.3.0/24"}'],
  ['net.cidr_merge', '[["1.2.3.0/24","::/0"]]', '{"::/0"}'],
  ['net.cidr_merge', '[["0.0.0.0/0","::/0"]]', '{"::/0"}'],
  ['net.cidr_merge', '[["0.0.0.0/0","::/96"]]', '{"0.0.0.0/0","::/96"}'],
  ['net.cidr_merge', '[["::fffe:0:0/96","0.0.0.0/0"]]', '{"0.0.0.0/0","::fffe:0:0/96"}'],
  ['net.cidr_merge', '[["0.0.0.0/1","128.0.0.0/1"]]', '{"0.0.0.0/0"}'],
  ['net.cidr_merge', '[["::/1","8000::/1"]]', '{"::/0"}'],
  [
    'net.cidr_merge',
    '[["10.0.0.0/24","10.0.2.0/24","10.0.1.0/25"]]',
    '{"10.0.0.0/24","10.0.1.0/25","10.0.2.0/24"}',
  ],
  ['net.cidr_merge', '[["10.0.0.0/24","10.0.0.128/25"]]', '{"10.0.0.0/24"}'],
  ['net.cidr_merge', '[["10.0.0.0/25","10.0.0.128/25","10.0.1.0/24","10.0.2.0/23"]]', '{"10.0.0.0/22"}'],
  ['net.cidr_merge', '[["10.0.0.192/26","10.0.0.0/24","10.0.0.128/25"]]', '{"10.0.0.0/24"}'],
  ['net.cidr_merge', '[["10.0.0.0/8","10.0.0.0/7","10.0.0.0/9","10.128.0.0/9"]]', '{"10.0.0.0/7"}'],
  [
    'net.cidr_merge',
    '[["10.0.0.1/32","10.0.0.2/31","10.0.0.4/30","10.0.0.8/29","10.0.0.16/32"]]',
    '{"10.0.0.1/32","10.0.0.16/32","10.0.0.2/31","10.0.0.4/30","10.0.0.8/29"}',
  ],
  ['net.cidr_merge', '[{"192.0.2.112/30","192.0.2.116/31","192.0.2.118/31"}]', '{"192.0.2.112/29"}'],
  [
    'net.cidr_merge',
    '[["10.0.0.0/24","fe80::/120","10.0.1.0/24","fe80::100/120"]]',
    '{"10.0.0.0/23","fe80::/119"}',
  ],
  ['net.cidr_merge', '[["2001:db8::/33","2001:db8:8000::/33"]]', '{"2001:db8::/32"}'],
  ['net.cidr_contains_matches', '["1.1.1.0/24","1.1.1.1"]', '{["1.1.1.0/24","1.1.1.1"]}'],
  ['net.cidr_contains_matches', '[["1.1.2.0/24","1.1.1.0/24"],["1.1.1.1","1.1.2.1"]]', '{[0,1],[1,0]}'],
  [
    'net.cidr_contains_matches',
    '[{"k1":"1.1.1.1/24","k2":["1.1.1.2/24",1]},"1.1.1.128"]',
    '{["k1","1.1.1.128"],["k2","1.1.1.128"]}',
  ],
  [
    'net.cidr_contains_matches',
    '[{["1.1.1.0/24","bar"],["1.1.2.0/24","foo"]},{["1.1.2.1","qux"],"1.1.1.9"}]',
    '{[["1.1.1.0/24","bar"],"1.1.1.9"],[["1.1.2.0/24","foo"],["1.1.2.1","qux"]]}',
  ],
  [
    'net.cidr_contains_matches',
    '[["1.1.2.0/24"],["1.1.1.1",1]]',
    'eval_builtin_error: operand 2: element must be string or non-empty array',
  ],
  [
    'net.cidr_contains_matches',
    '[["1.1.2.0/24"],["1.1.1.1",[]]]',
    'eval_builtin_error: operand 2: element must be string or non-empty array',
  ],
  [
    'net.cidr_contains_matches',
    '[[{"a":1}],["1.1.1.1"]]',
    'eval_builtin_error: operand 1: element must be string or non-empty array',
  ],
  [
    'net.cidr_contains_matches',
    '[[[1]],["1.1.1.1"]]',
    'eval_type_error: operand 1 must be string but got number',
  ],
  [
    'net.cidr_contains_matches',
    '[["1.1.2.0/24"],[[1]]]',
    'eval_type_error: operand 1 must be string but got number',
  ],
  ['net.cidr_contains_matches', '[1,"1.1.1.1"]', 'set()'],
  ['net.cidr_contains_matches', '["1.1.1.1/8",null]', 'set()'],
  ['net.cidr_contains_matches', '["x",[]]', 'set()'],
  ['net.cidr_contains_matches', '[[],[1]]', 'set()'],
  ['net.cidr_contains_matches', '["x","y"]', 'eval_builtin_error: invalid CIDR address: x'],
  [
    'net.cidr_contains_matches',
    '["1.0.0.0/8","y"]',
    'eval_builtin_error: not a valid textual representation of an IP address or CIDR: y',
  ],
  ['net.cidr_contains_matches', '["1.0.0.0/8","1.0.0.0/7"]', 'set()'],
  ['net.cidr_contains_matches', '["1.0.0.0/8","1.0.0.0/9"]', '{["1.0.0.0/8","1.0.0.0/9"]}'],
  ['net.cidr_contains_matches', '["::ffff:1.0.0.0/104","1.2.3.4"]', '{["::ffff:1.0.0.0/104","1.2.3.4"]}'],
  ['net.cidr_contains_matches', '["::ffff:1.0.0.0/90","1.2.3.4"]', 'set()'],
  ['net.cidr_contains_matches', '["1.0.0.0/8","::ffff:1.2.3.4"]', '{["1.0.0.0/8","::ffff:1.2.3.4"]}'],
  ['net.cidr_contains_matches', '["::/0","1.2.3.4"]', 'set()'],
  ['net.cidr_contains_matches', '["0.0.0.0/0","::1"]', 'set()'],
  [
    'net.cidr_contains_matches',
    '["fe80::/16","fe80::1%eth0"]',
    'eval_builtin_error: not a valid textual representation of an IP address or CIDR: fe80::1%eth0',
  ],
  ['net.cidr_contains_matches', '["fe80::/16","fe80:1::/32"]', '{["fe80::/16","fe80:1::/32"]}'],
]

describe('CIDR arithmetic', () => {
  it.each(cases)('%s of %s gives %s', (builtin, args, outcome) => {
    expect(outcomeOf(netBuiltins, builtin, args)).toBe(outcome)
  })

  it('keeps adjacent IPv4 and IPv6 ranges apart, for which OPA crashes', () => {
    const merged = outcomeOf(netBuiltins, 'net.cidr_merge', '[["255.0.0.0/8", "::1:0:0:0/96"]]')
    expect(merged).toBe('{"255.0.0.0/8","::1:0:0:0/96"}')
  })

  it('merges an IPv4-mapped network with the adjacent IPv4 network', () => {
    const merged = outcomeOf(netBuiltins, 'net.cidr_merge', '[["::ffff:1.2.2.4/120", "1.2.3.0/24"]]')
    expect(merged).toBe('{"1.2.2.0/23"}')
  })

  it('expands a /16, and ends the evaluation for a network that does not fit into memory', () => {
    const count = outcomeOf(netBuiltins, 'net.cidr_expand', '["10.1.0.0/16"]').split(',').length
    expect(count).toBe(65_536)
    expect(outcomeOf(netBuiltins, 'net.cidr_expand', '["10.0.0.0/8"]')).toMatch(/^over budget: /)
    expect(outcomeOf(netBuiltins, 'net.cidr_expand', '["::/0"]')).toMatch(/^over budget: /)
  })

  it('ends the evaluation over millions of pairs to compare', () => {
    const list = JSON.stringify(Array.from({ length: 2_001 }, () => '10.0.0.0/8'))
    const outcome = outcomeOf(netBuiltins, 'net.cidr_contains_matches', `[${list}, ${list}]`)
    expect(outcome).toMatch(/^over budget: /)
  })
})
