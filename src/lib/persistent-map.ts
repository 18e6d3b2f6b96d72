/**
 * An immutable map with structural sharing (a hash array mapped trie), keyed by strings.
 *
 * A change copies one path of at most seven small nodes, so a snapshot of 50,000 objects can be kept, branched and
 * changed at the cost of the change. `edit` makes many changes without copying a node twice.
 */
export interface PersistentMap<V> extends Iterable<readonly [string, V]> {
  readonly size: number;
  get(key: string): V | undefined;
  has(key: string): boolean;
  set(key: string, value: V): PersistentMap<V>;
  delete(key: string): PersistentMap<V>;
  edit(change: (draft: MapDraft<V>) => void): PersistentMap<V>;
  /** Same as `edit`, for changes that are made in several steps. The caller closes the draft. */
  open(): OpenDraft<V>;
  /** Returns the keys whose values differ from an earlier map. Nodes that both maps share are skipped. */
  changedSince(before: PersistentMap<V>): ReadonlySet<string>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<V>;
}

/** Mutable view of a map during `edit`. Must not be used afterwards. */
export interface MapDraft<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** A draft that `close` turns into a map. Must not be changed after that. */
export interface OpenDraft<V> extends MapDraft<V> {
  close(): PersistentMap<V>;
}

/** Returns the empty map. */
export function emptyMap<V>(): PersistentMap<V> {
  return new Trie<V>(undefined, 0);
}

interface Leaf<V> {
  readonly key: string;
  readonly hash: number;
  readonly value: V;
}

/**
 * `bitmap` marks which of the 32 slots are present in `slots`. At the deepest level a branch is a plain list of leaves
 * with equal hashes.
 */
interface Branch<V> {
  readonly owner: object | undefined;
  bitmap: number;
  slots: (Branch<V> | Leaf<V>)[];
}

type Node<V> = Branch<V> | Leaf<V>;

const maxShift = 35;

function isLeaf<V>(node: Node<V>): node is Leaf<V> {
  return 'key' in node;
}

/**
 * Hashes a key with FNV-1a and a final avalanche step. Ids share prefixes, so every bit must depend on the last
 * characters.
 */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function bitOf(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & 31);
}

function indexOf(bitmap: number, bit: number): number {
  let bits = bitmap & (bit - 1);
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function find<V>(root: Node<V> | undefined, key: string, hash: number): Leaf<V> | undefined {
  let node = root;
  for (let shift = 0; node !== undefined; shift += 5) {
    if (isLeaf(node)) return node.key === key ? node : undefined;
    if (shift >= maxShift) return node.slots.find((slot): slot is Leaf<V> => isLeaf(slot) && slot.key === key);
    const bit = bitOf(hash, shift);
    node = (node.bitmap & bit) === 0 ? undefined : node.slots[indexOf(node.bitmap, bit)];
  }
  return undefined;
}

/**
 * Returns a branch that this edit may change in place: the branch itself if the edit owns it, else a copy that the edit
 * owns.
 */
function editableBranch<V>(branch: Branch<V>, owner: object): Branch<V> {
  return branch.owner === owner ? branch : { owner, bitmap: branch.bitmap, slots: branch.slots.slice() };
}

function insert<V>(node: Node<V> | undefined, leaf: Leaf<V>, shift: number, owner: object): Node<V> {
  if (node === undefined) return leaf;
  if (isLeaf(node)) return node.key === leaf.key ? leaf : join(node, leaf, shift, owner);
  const branch = editableBranch(node, owner);
  if (shift >= maxShift) {
    const at = branch.slots.findIndex((slot) => isLeaf(slot) && slot.key === leaf.key);
    if (at < 0) branch.slots.push(leaf);
    else branch.slots[at] = leaf;
    return branch;
  }
  const bit = bitOf(leaf.hash, shift);
  const at = indexOf(branch.bitmap, bit);
  if ((branch.bitmap & bit) === 0) {
    branch.bitmap |= bit;
    branch.slots.splice(at, 0, leaf);
  } else {
    branch.slots[at] = insert(branch.slots[at], leaf, shift + 5, owner);
  }
  return branch;
}

/** Returns a branch with two leaves of different keys. */
function join<V>(first: Leaf<V>, second: Leaf<V>, shift: number, owner: object): Branch<V> {
  if (shift >= maxShift) return { owner, bitmap: 0, slots: [first, second] };
  const left = bitOf(first.hash, shift);
  const right = bitOf(second.hash, shift);
  if (left === right) return { owner, bitmap: left, slots: [join(first, second, shift + 5, owner)] };
  const slots = left >>> 0 < right >>> 0 ? [first, second] : [second, first];
  return { owner, bitmap: left | right, slots };
}

function remove<V>(
  node: Node<V> | undefined,
  key: string,
  hash: number,
  shift: number,
  owner: object,
): Node<V> | undefined {
  if (node === undefined) return undefined;
  if (isLeaf(node)) return node.key === key ? undefined : node;
  const branch = editableBranch(node, owner);
  const bit = shift >= maxShift ? 0 : bitOf(hash, shift);
  const at =
    shift >= maxShift
      ? branch.slots.findIndex((slot) => isLeaf(slot) && slot.key === key)
      : (branch.bitmap & bit) === 0
        ? -1
        : indexOf(branch.bitmap, bit);
  if (at < 0) return node;
  const rest = shift >= maxShift ? undefined : remove(branch.slots[at], key, hash, shift + 5, owner);
  if (rest === undefined) {
    branch.slots.splice(at, 1);
    branch.bitmap &= ~bit;
  } else {
    branch.slots[at] = rest;
  }
  const only = branch.slots.length === 1 ? branch.slots[0] : undefined;
  if (only !== undefined && isLeaf(only)) return only;
  return branch.slots.length === 0 ? undefined : branch;
}

function* leaves<V>(node: Node<V> | undefined): IterableIterator<Leaf<V>> {
  if (node === undefined) return;
  if (isLeaf(node)) {
    yield node;
    return;
  }
  for (const slot of node.slots) yield* leaves(slot);
}

/** Adds the keys whose leaves differ. A node that both maps share is skipped, because its content is equal. */
function collectChanges<V>(before: Node<V> | undefined, after: Node<V> | undefined, shift: number, keys: Set<string>) {
  if (before === after) return;
  if (before !== undefined && after !== undefined && !isLeaf(before) && !isLeaf(after) && shift < maxShift) {
    for (let bits = before.bitmap | after.bitmap; bits !== 0; bits &= bits - 1) {
      const bit = bits & -bits;
      collectChanges(slotAt(before, bit), slotAt(after, bit), shift + 5, keys);
    }
    return;
  }
  const old = new Map([...leaves(before)].map(({ key, value }) => [key, value]));
  for (const { key, value } of leaves(after)) {
    if (!old.has(key) || old.get(key) !== value) keys.add(key);
    old.delete(key);
  }
  for (const key of old.keys()) keys.add(key);
}

function slotAt<V>({ bitmap, slots }: Branch<V>, bit: number): Node<V> | undefined {
  return (bitmap & bit) === 0 ? undefined : slots[indexOf(bitmap, bit)];
}

class Trie<V> implements PersistentMap<V> {
  readonly #root: Node<V> | undefined;
  readonly size: number;

  constructor(root: Node<V> | undefined, size: number) {
    this.#root = root;
    this.size = size;
  }

  get(key: string): V | undefined {
    return find(this.#root, key, hashOf(key))?.value;
  }

  has(key: string): boolean {
    return find(this.#root, key, hashOf(key)) !== undefined;
  }

  set(key: string, value: V): PersistentMap<V> {
    return this.edit((draft) => draft.set(key, value));
  }

  delete(key: string): PersistentMap<V> {
    return this.edit((draft) => draft.delete(key));
  }

  edit(change: (draft: MapDraft<V>) => void): PersistentMap<V> {
    const draft = this.open();
    change(draft);
    return draft.close();
  }

  open(): OpenDraft<V> {
    const owner = {};
    let root = this.#root;
    let size = this.size;
    return {
      get: (key) => find(root, key, hashOf(key))?.value,
      set: (key, value) => {
        const hash = hashOf(key);
        const present = find(root, key, hash);
        if (present !== undefined && present.value === value) return;
        if (present === undefined) size++;
        root = insert(root, { key, hash, value }, 0, owner);
      },
      delete: (key) => {
        const hash = hashOf(key);
        if (find(root, key, hash) === undefined) return;
        size--;
        root = remove(root, key, hash, 0, owner);
      },
      close: () => (root === this.#root ? this : new Trie(root, size)),
    };
  }

  changedSince(before: PersistentMap<V>): ReadonlySet<string> {
    const keys = new Set<string>();
    // `Trie` is the only class that implements `PersistentMap`.
    collectChanges((before as Trie<V>).#root, this.#root, 0, keys);
    return keys;
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, V]> {
    for (const leaf of leaves(this.#root)) yield [leaf.key, leaf.value];
  }

  *keys(): IterableIterator<string> {
    for (const leaf of leaves(this.#root)) yield leaf.key;
  }

  *values(): IterableIterator<V> {
    for (const leaf of leaves(this.#root)) yield leaf.value;
  }
}
