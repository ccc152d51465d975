// The writer of PKCS#12 files.

public import OMSecrets

extension PKCS12File {
    /// A new file. Key and certificates are each in PBES2 with AES-256 and 600,000 rounds of SHA-256. The MAC has as many
    /// rounds.
    ///
    /// - Parameters:
    ///   - certificates: The key's own certificate first. May be empty.
    ///   - name: The friendly name.
    /// - Throws: ``CryptoError/foreignCertificate`` if the first certificate belongs to another key.
    public static func make(
        _ key: borrowing PrivateKey, certificates: [Certificate] = [], name: String, password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let spki = try key.publicKey().spki()
        if let own = certificates.first, own.spki != spki { throw .foreignCertificate }
        let id = try Digest.of(spki, .sha256)
        let safe = try safe(key, certificates, name: name, id: id, password: password)
        let text = try PKCS12Password.text(password)
        let (salt, iterations) = (Random.bytes(16), 600_000)
        let tag = try safe.withBytes { (safe) throws(CryptoError) in
            try MACData.compute(safe, password: text, salt: salt, iterations: iterations, hash: .sha256)
        }
        var writer = DERWriter()
        writer.sequence { file in
            file.integer(3)
            file.content(OID.pkcs7Data) { holder in safe.withBytes { holder.octets($0) } }
            file.sequence { mac in
                mac.sequence { info in
                    info.sequence { algorithm in
                        algorithm.objectIdentifier(OID.sha256)
                        algorithm.null()
                    }
                    tag.withBytes { info.octets($0) }
                }
                mac.octets(salt.span)
                mac.integer(iterations)
            }
        }
        return writer.finish()
    }

    private static func safe(
        _ key: borrowing PrivateKey, _ certificates: [Certificate], name: String, id: [UInt8],
        password: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var certificateBags = DERWriter()
        certificateBags.sequence { bags in
            for (index, certificate) in certificates.enumerated() {
                bags.sequence { bag in
                    bag.objectIdentifier(OID.certificateBag)
                    bag.constructed(DERTag.context(0)) { value in
                        value.sequence { holder in
                            holder.objectIdentifier(OID.x509Certificate)
                            holder.constructed(DERTag.context(0)) { $0.octets(certificate.der.span) }
                        }
                    }
                    if index == 0 { bag.attributes(name, id) }
                }
            }
        }
        let certificateBytes = certificateBags.finish()
        let encryption = KeyEncryption.new()
        let sealed = try encryption.seal(certificateBytes, password: password)
        let shrouded = try key.encryptedPKCS8(password: password)
        var keyBags = DERWriter()
        keyBags.sequence { bags in
            bags.sequence { bag in
                bag.objectIdentifier(OID.shroudedKeyBag)
                bag.constructed(DERTag.context(0)) { value in shrouded.withBytes { value.raw($0) } }
                bag.attributes(name, id)
            }
        }
        let keyBytes = keyBags.finish()
        var writer = DERWriter()
        writer.sequence { infos in
            if !certificates.isEmpty {
                infos.content(OID.pkcs7Encrypted) { holder in
                    holder.sequence { data in
                        data.integer(0)
                        data.sequence { info in
                            info.objectIdentifier(OID.pkcs7Data)
                            encryption.write(&info)
                            sealed.withBytes { info.primitive(DERTag.primitive(0), $0) }
                        }
                    }
                }
            }
            infos.content(OID.pkcs7Data) { holder in keyBytes.withBytes { holder.octets($0) } }
        }
        return writer.finish()
    }
}

extension DERWriter {
    /// A ContentInfo (RFC 2315 section 7).
    fileprivate mutating func content(_ type: [UInt8], _ body: (inout DERWriter) -> Void) {
        sequence { info in
            info.objectIdentifier(type)
            info.constructed(DERTag.context(0), body)
        }
    }

    fileprivate mutating func attributes(_ name: String, _ id: [UInt8]) {
        constructed(DERTag.set) { set in
            if !name.isEmpty {
                set.sequence { attribute in
                    attribute.objectIdentifier(OID.friendlyName)
                    let units = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
                    attribute.constructed(DERTag.set) { $0.primitive(DERTag.bmpString, units.span) }
                }
            }
            set.sequence { attribute in
                attribute.objectIdentifier(OID.localKeyID)
                attribute.constructed(DERTag.set) { $0.octets(id.span) }
            }
        }
    }
}
