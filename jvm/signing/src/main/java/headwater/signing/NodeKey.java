package headwater.signing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.EdECPoint;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** The Ed25519 key with which a node signs its events. `toString` never shows the private part. */
public final class NodeKey {
  private static final int KEY_BYTES = 32;
  private static final Base64.Encoder BASE64URL = Base64.getUrlEncoder().withoutPadding();

  private final String keyId;
  private final byte[] publicKey;
  private final PrivateKey privateKey;

  private NodeKey(String keyId, byte[] publicKey, PrivateKey privateKey) {
    this.keyId = keyId;
    this.publicKey = publicKey;
    this.privateKey = privateKey;
  }

  /**
   * Reads a node's key file, as `headwater` writes it: a private JSON Web Key whose `kid` is the
   * key id.
   *
   * <p>Source: RFC 8037, section 2
   *
   * @throws IOException if it cannot be read, or is not such a key; the message names the file, and
   *     contains no key material
   */
  public static NodeKey read(Path path) throws IOException {
    try {
      Map<?, ?> jwk = (Map<?, ?>) JsonReader.read(Files.readAllBytes(path));
      String kid = (String) jwk.get("kid");
      byte[] seed = Base64.getUrlDecoder().decode((String) jwk.get("d"));
      NodeKey key = fromSeed(kid.substring("node:".length(), kid.indexOf('#')), seed);
      if (key.keyId.equals(kid)) {
        return key;
      }
    } catch (RuntimeException malformed) {
      // Its message may contain a part of the key.
    }
    throw new IOException(path + " is not a node key file as `headwater key show` creates it");
  }

  /**
   * Creates the key from its 32-byte seed.
   *
   * <p>Source: RFC 8032, section 5.1.5, where the seed is called the private key
   */
  public static NodeKey fromSeed(String nodeId, byte[] seed) {
    if (seed.length != KEY_BYTES) {
      throw new IllegalArgumentException("seed: expected 32 bytes");
    }
    try {
      // The JDK derives a public key only while it generates a pair, from the first 32 random bytes
      // that it requests.
      KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
      generator.initialize(NamedParameterSpec.ED25519, new FixedRandom(seed));
      KeyPair pair = generator.generateKeyPair();
      byte[] raw = rawPublicKey((EdECPublicKey) pair.getPublic());
      String keyId = "node:" + nodeId + "#sha256:" + BASE64URL.encodeToString(Sha256.of(raw));
      return new NodeKey(keyId, raw, pair.getPrivate());
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java runtime lacks Ed25519", missing);
    }
  }

  /** `node:<node id>#sha256:<unpadded base64url of the SHA-256 of the raw public key>`. */
  public String keyId() {
    return keyId;
  }

  /** The node's id, a part of the key id. */
  public String nodeId() {
    return keyId.substring("node:".length(), keyId.indexOf('#'));
  }

  /** The public key's 32 bytes. */
  public byte[] publicKey() {
    return publicKey.clone();
  }

  /** Returns the signature over `payload`, 64 bytes. */
  public byte[] sign(byte[] payload) {
    try {
      Signature signature = Signature.getInstance("Ed25519");
      signature.initSign(privateKey);
      signature.update(payload);
      return signature.sign();
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException("this Java runtime cannot sign with Ed25519", failure);
    }
  }

  @Override
  public String toString() {
    return "NodeKey[" + keyId + "]";
  }

  /**
   * Encodes a point in 32 bytes: y, little-endian, with the lowest bit of x as the top bit.
   *
   * <p>Source: RFC 8032, section 5.1.2
   */
  private static byte[] rawPublicKey(EdECPublicKey key) {
    EdECPoint point = key.getPoint();
    byte[] bigEndian = point.getY().toByteArray();
    byte[] raw = new byte[KEY_BYTES];
    for (int index = 0; index < Math.min(bigEndian.length, KEY_BYTES); index++) {
      raw[index] = bigEndian[bigEndian.length - 1 - index];
    }
    if (point.isXOdd()) {
      raw[KEY_BYTES - 1] |= (byte) 0x80;
    }
    return raw;
  }

  /** A source of "random" bytes that returns the seed. */
  private static final class FixedRandom extends SecureRandom {
    private final byte[] seed;

    FixedRandom(byte[] seed) {
      this.seed = Arrays.copyOf(seed, seed.length);
    }

    @Override
    public void nextBytes(byte[] bytes) {
      System.arraycopy(seed, 0, bytes, 0, bytes.length);
    }
  }
}
