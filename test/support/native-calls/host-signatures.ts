import fc from 'fast-check'

import * as h from './host-texts.js'
import * as k from './key-texts.js'
import type { Signature } from './signatures.js'
import { named, written } from './signatures.js'
import * as t from './texts.js'
import * as v from './values.js'

const SET = (letter: string): string => `{y | some y in ${letter}}`
const HMACS = ['md5', 'sha1', 'sha256', 'sha512']
const VERIFIED = ['hs256', 'hs384', 'hs512', 'rs256', 'ps256', 'es256']
const affixes = fc.oneof(t.text, v.texts)

/** Built-ins implemented outside the module, except those with random or external results. */
export const HOST_SIGNATURES: readonly Signature[] = [
  named('base64url.encode_no_pad', t.text),
  ...HMACS.map((kind) => named(`crypto.hmac.${kind}`, t.text, t.text)),
  named('crypto.hmac.equal', t.part, t.part),
  ...['md5', 'sha1', 'sha256'].map((kind) => named(`crypto.${kind}`, t.text)),
  ...['certificates', 'certificate_request', 'rsa_private_key'].map((kind) =>
    named(`crypto.x509.parse_${kind}`, k.pem),
  ),
  named('crypto.x509.parse_certificates', t.base64Text),
  named('crypto.x509.parse_keypair', k.pem, k.pem),
  named('crypto.x509.parse_and_verify_certificates', k.pem),
  written(
    'crypto.x509.parse_and_verify_certificates of several',
    'crypto.x509.parse_and_verify_certificates(concat("", a))',
    fc.array(k.pem, { minLength: 2, maxLength: 4 }),
  ),
  named('crypto.x509.parse_and_verify_certificates_with_options', k.pem, k.verifyOptions),
  named('crypto.parse_private_keys', k.pem),
  named('glob.quote_meta', t.globPattern),
  written('graph.reachable_paths', 'graph.reachable_paths(a, b)', v.graph, v.texts),
  named('graphql.is_valid', h.graphqlQuery, h.graphqlSchema),
  named('graphql.parse', h.graphqlQuery, h.graphqlSchema),
  named('graphql.parse_query', h.graphqlQuery),
  named('graphql.parse_schema', h.graphqlSchema),
  named('graphql.schema_is_valid', h.graphqlSchema),
  named('hex.decode', h.hex),
  named('hex.encode', t.text),
  named('io.jwt.decode', h.jwt),
  named('io.jwt.encode_sign', k.signingHeader, k.payload, k.signingKey),
  named('io.jwt.encode_sign_raw', k.signingHeaderText, k.payloadText, k.signingKeyText),
  ...VERIFIED.map((kind) => named(`io.jwt.verify_${kind}`, h.jwt, k.pem)),
  named('io.jwt.decode_verify', h.jwt, h.constraints),
  ...VERIFIED.map((kind) => named(`io.jwt.verify_${kind}`, h.jwt, h.secret)),
  named('json.marshal_with_options', v.value, h.marshalOptions),
  named('json.patch', v.document, h.patches),
  named('json.verify_schema', h.schema),
  written('json.match_schema', '[valid | [valid, _] := json.match_schema(a, b)]', h.instance, h.schema),
  named('net.cidr_contains_matches', h.networks, h.networks),
  named('net.cidr_expand', h.smallNetwork),
  named('net.cidr_is_valid', t.cidr),
  named('net.cidr_merge', h.networks),
  named('numbers.range_step', v.rangeEnd, v.rangeEnd, v.rangeEnd),
  named('object.subset', v.document, v.document),
  written('object.subset of sets', `object.subset(${SET('a')}, ${SET('b')})`, v.array, v.array),
  named('providers.aws.sign_req', k.awsRequest, k.awsConfig, h.nanoseconds),
  named('regex.find_n', t.regexPattern, t.text, v.small),
  named('regex.replace', t.text, t.regexPattern, t.text),
  named('regex.split', t.regexPattern, t.text),
  named('regex.template_match', t.text, t.text, t.part, t.part),
  named('semver.compare', h.semver, h.semver),
  named('semver.is_valid', h.semver),
  named('sprintf', h.verbs, v.array),
  named('strings.any_prefix_match', affixes, affixes),
  named('strings.any_suffix_match', affixes, affixes),
  named('strings.count', t.text, t.part),
  named('strings.render_template', h.template, v.document),
  named('time.add_date', h.nanoseconds, v.small, v.small, v.small),
  named('time.clock', h.time),
  named('time.date', h.time),
  named('time.diff', h.time, h.time),
  named('time.format', h.formatted),
  named('time.parse_duration_ns', h.duration),
  named('time.parse_ns', h.layout, h.written),
  named('time.parse_rfc3339_ns', h.rfc3339),
  named('time.weekday', h.time),
  named('units.parse', h.unit),
  named('units.parse_bytes', h.unit),
  named('urlquery.decode', h.query),
  named('urlquery.decode_object', h.query),
  named('urlquery.encode', t.text),
  named('urlquery.encode_object', h.queryObject),
  named('uuid.parse', h.uuid),
  named('yaml.is_valid', h.yaml),
  named('yaml.marshal', v.value),
  named('yaml.unmarshal', h.yaml),
]

/** Built-ins that OPA 0.70 does not compile. */
export const NEWER_SIGNATURES: readonly Signature[] = [
  named('array.flatten', v.array),
  named('strings.split_n', t.text, t.part, v.small),
  named('uri.is_valid', h.uri),
  named('uri.parse', h.uri),
]
