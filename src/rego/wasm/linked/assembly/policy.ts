/** Functions of the policy module by OPA's names, linked when a module is loaded. */
export declare function opa_value_iter(node: usize, previous: usize): usize
export declare function opa_value_get(node: usize, key: usize): usize
export declare function opa_value_compare(a: usize, b: usize): i32
export declare function opa_malloc(bytes: usize): usize
export declare function opa_value_shallow_copy(value: usize): usize
export declare function opa_object(): usize
export declare function opa_object_insert(object: usize, key: usize, value: usize): void
export declare function opa_set_add(set: usize, element: usize): void
export declare function opa_number_hash(number: usize): u32
export declare function opa_abort(text: usize): void
