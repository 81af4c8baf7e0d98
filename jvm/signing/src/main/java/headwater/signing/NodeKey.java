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

/**
 * The Ed25519 key with which one node signs its events. Its text form never holds the private part.
 */
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
   * Reads the file in which `headwater` keeps a node's key: a private JSON Web Key whose `kid` is
   * the key id.
   *
   * <p>Source: RFC 8037, section 2
   *
   * @throws IOException it cannot be read, or is no such key; the message names what is wrong and
   *     shows nothing of it
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
      // Its message may show a part of the key.
    }
    throw new IOException(path + " holds no node key as `headwater key show` knows it");
  }

  /**
   * Makes the key from its 32-byte seed.
   *
   * <p>Source: RFC 8032, section 5.1.5, where the seed is called the private key
   */
  public static NodeKey fromSeed(String nodeId, byte[] seed) {
    if (seed.length != KEY_BYTES) {
      throw new IllegalArgumentException("seed: expected 32 bytes");
    }
    try {
      // The JDK derives a public key only while it generates a pair, from the first 32 bytes that
      // it draws.
      KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
      generator.initialize(NamedParameterSpec.ED25519, new Drawn(seed));
      KeyPair pair = generator.generateKeyPair();
      byte[] raw = rawPublicKey((EdECPublicKey) pair.getPublic());
      String keyId = "node:" + nodeId + "#sha256:" + BASE64URL.encodeToString(Sha256.of(raw));
      return new NodeKey(keyId, raw, pair.getPrivate());
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no Ed25519", missing);
    }
  }

  /** `node:<node id>#sha256:<unpadded base64url of the SHA-256 of the raw public key>`. */
  public String keyId() {
    return keyId;
  }

  /** The id of the node, as it stands in the key id. */
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
      throw new IllegalStateException("this Java could not sign", failure);
    }
  }

  @Override
  public String toString() {
    return "NodeKey[" + keyId + "]";
  }

  /**
   * A point as 32 bytes: y, the lowest byte first, with the lowest bit of x on top.
   *
   * <p>Source: RFC 8032, section 5.1.2
   */
  private static byte[] rawPublicKey(EdECPublicKey key) {
    EdECPoint point = key.getPoint();
    byte[] bigEndian = point.getY().toByteArray();
    byte[] raw = new byte[KEY_BYTES];
    for (int place = 0; place < Math.min(bigEndian.length, KEY_BYTES); place++) {
      raw[place] = bigEndian[bigEndian.length - 1 - place];
    }
    if (point.isXOdd()) {
      raw[KEY_BYTES - 1] |= (byte) 0x80;
    }
    return raw;
  }

  /** Says what it was given, where a generator asks for chance. */
  private static final class Drawn extends SecureRandom {
    private final byte[] seed;

    Drawn(byte[] seed) {
      this.seed = Arrays.copyOf(seed, seed.length);
    }

    @Override
    public void nextBytes(byte[] bytes) {
      System.arraycopy(seed, 0, bytes, 0, bytes.length);
    }
  }
}
